import type { Card, FileKind, Place } from '../files/present-file.ts'
import type { ReadyMade } from '../files/sample-files.ts'
import type { AdKind, InboundKind } from '../inbound.ts'
import type { SimulatedTemplate } from '../simulated-template.ts'
import type { NewCustomer } from '../world.ts'

export interface DemoPerson extends Omit<NewCustomer, 'numberId'> {
  /** Age of their first message, in minutes. */
  minutesAgo: number
  says: readonly ScriptEntry[]
}

interface ScriptEntry {
  text: string
  kind?: InboundKind
  ad?: AdKind
  made?: ReadyMade
  fileName?: string
  place?: Place
  card?: Card
  /** Index, from 0, of the entry that this one answers, edits or deletes. */
  about?: number
}

/** Invented customers. Some are leads of the demo as well, with the same numbers. */
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
      {
        kind: 'location',
        text: '',
        place: { latitude: 37.3861, longitude: -5.9926, name: 'Plaza Nueva', address: 'Plaza Nueva 8, Sevilla' },
      },
      { text: 'Mi decoradora puede recogerla' },
      {
        kind: 'contacts',
        text: '',
        card: { name: 'Carmen Ortega', phones: ['34600555188'], organisation: 'Estudio Ortega' },
      },
      { text: '¿Y hacéis envíos a Sevilla?', about: 1 },
    ],
  },
  {
    name: 'Aoife Byrne',
    phone: '353855550104',
    minutesAgo: 240,
    says: [
      { text: 'Hi there, my order A-1042 arrived but one of the two boxes is missing.' },
      { kind: 'image', made: 'page', text: 'The delivery note' },
      { kind: 'document', made: 'pdf', fileName: 'receipt-A-1042.pdf', text: '' },
      { kind: 'video', text: 'This is how the box looked' },
      { text: 'Could someone look into it today, please?' },
    ],
  },
  {
    name: 'Mateo Ríos',
    phone: '5215555501105',
    minutesAgo: 410,
    username: 'mateo.rios',
    hidesNumber: true,
    says: [{ kind: 'sticker', text: '' }, { text: '¿Cuánto cuesta el servicio de instalación?' }],
  },
  {
    name: 'Thiago Nogueira',
    phone: '5541955501105',
    minutesAgo: 1790,
    online: true,
    says: [{ text: 'Bom dia! Podem me mandar o orçamento em PDF?' }, { kind: 'voice', text: '' }],
  },
]

interface PhoneDemoPerson extends Omit<NewCustomer, 'numberId'> {
  /** Age of the chat's first message, in minutes. */
  minutesAgo: number
  chat: readonly { from: 'customer' | 'device'; text: string; made?: ReadyMade; kind?: FileKind }[]
}

/** Invented contacts that are already in the owner's phone. */
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

/** Templates in every state that a connector must distinguish. */
export const demoTemplates: readonly Omit<SimulatedTemplate, 'id'>[] = [
  {
    name: 'welcome_back',
    language: 'pt_BR',
    status: 'APPROVED',
    category: 'MARKETING',
    parameter_format: 'POSITIONAL',
    components: [
      { type: 'BODY', text: 'Olá {{1}}, sentimos sua falta! Podemos ajudar com {{2}}?' },
      { type: 'FOOTER', text: 'Parley Demo' },
    ],
  },
  {
    name: 'order_update',
    language: 'en',
    status: 'APPROVED',
    category: 'UTILITY',
    parameter_format: 'NAMED',
    components: [{ type: 'BODY', text: 'Hi {{first_name}}, your order {{order_id}} ships today.' }],
  },
  {
    name: 'order_update',
    language: 'es',
    status: 'APPROVED',
    category: 'UTILITY',
    parameter_format: 'NAMED',
    components: [{ type: 'BODY', text: 'Hola {{first_name}}, tu pedido {{order_id}} sale hoy.' }],
  },
  {
    name: 'appointment_reminder',
    language: 'en',
    status: 'APPROVED',
    category: 'UTILITY',
    parameter_format: 'POSITIONAL',
    components: [
      { type: 'BODY', text: 'Reminder: we see you on {{1}} at {{2}}.' },
      {
        type: 'BUTTONS',
        buttons: [
          { type: 'QUICK_REPLY', text: 'I will be there' },
          { type: 'QUICK_REPLY', text: 'Another day' },
        ],
      },
    ],
  },
  {
    name: 'summer_sale',
    language: 'pt_BR',
    status: 'PENDING',
    category: 'MARKETING',
    parameter_format: 'POSITIONAL',
    components: [{ type: 'BODY', text: 'A liquidação de verão começou, {{1}}!' }],
  },
  {
    name: 'new_catalog',
    language: 'es',
    status: 'APPROVED',
    category: 'MARKETING',
    parameter_format: 'POSITIONAL',
    components: [
      { type: 'HEADER', format: 'IMAGE' },
      { type: 'BODY', text: 'Ya está aquí nuestro nuevo catálogo.' },
    ],
  },
]
