import type { AdKind } from '../inbound.ts'
import type { NewCustomer } from '../world.ts'

export interface DemoPerson extends Omit<NewCustomer, 'numberId'> {
  /** When they began to write. */
  minutesAgo: number
  says: readonly { text: string; kind?: 'image' | 'voice' | 'location'; ad?: AdKind }[]
}

/** Invented customers. Some are leads of the demo as well, under the same numbers. */
export const demoPeople: readonly DemoPerson[] = [
  {
    name: 'Marina Azevedo',
    phone: '5511955501101',
    minutesAgo: 6,
    says: [{ text: 'Oi! Tudo bem?' }, { text: 'O plano anual ainda está com desconto? Queria fechar hoje' }],
  },
  {
    name: 'João Pedro Carvalho',
    phone: '5521955501102',
    minutesAgo: 42,
    says: [{ text: 'Olá, vi o anúncio de vocês e queria saber o prazo de entrega para o Rio.', ad: 'image' }],
  },
  {
    name: 'Lucía Fernández',
    phone: '34600555103',
    minutesAgo: 95,
    readsAtOnce: true,
    says: [
      { text: 'Hola, ¿tenéis la lámpara en color verde?' },
      { kind: 'image', text: 'Esta de la foto' },
      { text: '¿Y hacéis envíos a Sevilla?' },
    ],
  },
  {
    name: 'Aoife Byrne',
    phone: '353855550104',
    minutesAgo: 240,
    says: [
      { text: 'Hi there, my order A-1042 arrived but one of the two boxes is missing.' },
      { text: 'Could somebody look into it today, please?' },
    ],
  },
  {
    name: 'Mateo Ríos',
    phone: '5215555501105',
    minutesAgo: 410,
    username: 'mateo.rios',
    hidesNumber: true,
    says: [{ text: '¿Cuánto cuesta el servicio de instalación?' }],
  },
  {
    name: 'Thiago Nogueira',
    phone: '5541955501105',
    minutesAgo: 1790,
    online: true,
    says: [{ text: 'Bom dia! Podem me mandar o orçamento em PDF?' }, { kind: 'voice', text: '' }],
  },
]
