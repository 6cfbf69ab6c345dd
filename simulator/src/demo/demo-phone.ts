import type { ReadyMade } from '../files/ready-made.ts'
import type { FileKind } from '../files/shown-file.ts'
import type { NewCustomer } from '../world.ts'

export interface PhoneDemoPerson extends Omit<NewCustomer, 'numberId'> {
  /** When the chat began. */
  minutesAgo: number
  chat: readonly { from: 'customer' | 'device'; text: string; made?: ReadyMade; kind?: FileKind }[]
}

/** Invented people who are in the owner's phone already. */
export const phoneDemoPeople: readonly PhoneDemoPerson[] = [
  {
    name: 'Helena Duarte',
    phone: '5511955501201',
    minutesAgo: 75,
    readsAtOnce: true,
    chat: [
      { from: 'customer', text: 'Bom dia! Vocês abrem no sábado?' },
      { from: 'device', text: 'Bom dia, Helena! Abrimos sim, das 9 às 14.' },
      { from: 'device', text: 'Nossa agenda da semana', made: 'chart', kind: 'image' },
      { from: 'customer', text: '', made: 'voice', kind: 'voice' },
      { from: 'customer', text: 'Perfeito, obrigada!' },
    ],
  },
  {
    name: 'Owen Clarke',
    phone: '447700900203',
    minutesAgo: 1510,
    chat: [
      { from: 'customer', text: 'Hello, could I move my appointment to Thursday?' },
      { from: 'device', text: 'Of course. Thursday at ten?' },
    ],
  },
  {
    name: 'Inés Molina',
    phone: '34600555202',
    minutesAgo: 2900,
    hidesNumber: true,
    chat: [{ from: 'customer', text: '¡Hola! ¿Tienen estacionamiento?' }],
  },
]
