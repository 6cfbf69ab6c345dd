import { createHash, randomBytes } from 'node:crypto'
import { phoneClass } from '../../server/src/base/phone/phone-variants.ts'
import type { Card, Place, ShownFile } from './files/present-file.ts'
import { healthyStatus, type SimulatedStatus } from './number-status.ts'
import { readySetup, type SetupState } from './setup.ts'
import type { SimulatedTemplate } from './simulated-template.ts'
import { randomDigits } from './wamid.ts'

/** Number of a business: on the platform, with its account and app, or a phone with linked devices. */
export interface BusinessNumber extends SimulatedStatus, SetupState {
  network: 'official' | 'linked'
  /** Identifier of customers that linked devices receive first: phone number or hidden id. */
  addressing: 'pn' | 'lid'
  /** Accepts unknown devices: a restarted simulator has lost the list of linked ones. */
  trustsUnknownDevices: boolean
  numberId: string
  accountId: string
  /** Digits with country code. */
  phone: string
  name: string
  accessToken: string
  appSecret: string
  verifyToken: string
  /** Where webhooks are sent, and for what the URL is set. */
  callbackUrl: string | null
  callbackLevel: 'application' | 'whatsapp_business_account' | 'phone_number'
  /** Wrong PINs since the last right one. */
  wrongPins: number
  /** Requests of contacts and history: each is accepted once. */
  historyRequests: string[]
  /** Treats customers without messages as in the window: a restarted simulator does not know who wrote before. */
  trustsUnknownWindows: boolean
  /** Whether the account has no valid payment method: what is charged fails with 131042. */
  paymentFails: boolean
  /** Service messages that the platform does not charge for in a month, and how many it has counted in one. */
  freeServiceMessages: number
  serviceMessages: { month: string; count: number }
  /** Null for a number that its business has directly on the platform. */
  partner: PartnerSide | null
}

/** A partner's settings of a number that it serves. */
export interface PartnerSide {
  apiKey: string
  /** Headers of callbacks, as given when the URL was registered. */
  headers: Record<string, string>
  /** Signs callbacks; null for a partner that does not sign. */
  signingSecret: string | null
}

export type MessageStatus = 'pending' | 'sent' | 'delivered' | 'read' | 'failed'

export interface ChatMessage {
  id: string
  /** `device` is a person who typed on the business's own phone. */
  from: 'customer' | 'business' | 'device'
  kind: string
  text: string
  header: string | null
  footer: string | null
  buttons: string[]
  /** What quick replies return instead of their texts. */
  payloads?: Record<string, string>
  /** Options that the customer can choose from. */
  offer: Offer | null
  /** The one button of a message that asks for something. */
  prompt: Prompt | null
  at: Date
  status: MessageStatus
  errorCode: number | null
  correlator: string | null
  /** Billing category of the platform: `service`, or the template's category. */
  category: string
  /** What the platform reports about its price; null until it is sent. */
  price: MessagePrice | null
  /** Whether a status of the delivered message has reported the price. */
  isPriceDelivered: boolean
  /** Number of times the network received it; a message sent twice is shown once. */
  arrivals: number
  /** Parts other than text; then `text` is for lists, and `caption` is the text below the part. */
  file: ShownFile | null
  place: Place | null
  cards: Card[]
  caption: string | null
  /** Id of the message that it replies to. */
  quotes: string | null
  reactions: { customer: string | null; business: string | null }
  isEdited: boolean
  isWithdrawn: boolean
}

export interface MessagePrice {
  type: 'regular' | 'free_customer_service' | 'free_entry_point'
  category: string
  freeEntry: FreeEntry | null
}

/** Window in which all messages to a customer who came from an ad are free. */
export interface FreeEntry {
  id: string
  until: Date
}

export interface Prompt {
  type: 'link' | 'location_request' | 'contact_request' | 'address_request' | 'flow' | 'code'
  title: string
  url?: string
  /** One-time password that the button copies. */
  code?: string
  /** Comes back with the answers of a form. */
  token?: string
}

export interface Offer {
  /** Label of the button that opens the list; null for buttons. */
  button: string | null
  options: Choice[]
}

export interface Choice {
  id: string
  title: string
  description?: string
}

/** Who answers a conversation: the service under test (`business`), or another app on the number, by its role. */
export const answerers = ['business', 'ai_agent', 'escalation'] as const
export type Answerer = (typeof answerers)[number]

/** Customer's phone in its chat with one business number. */
export interface Customer {
  id: string
  numberId: string
  name: string
  username: string | null
  waId: string
  userId: string
  hidesNumber: boolean
  online: boolean
  readsAtOnce: boolean
  /** Has stopped marketing messages of the business, in the chat's settings. */
  stopsMarketing: boolean
  /** Gets so much marketing of all businesses that the platform delivers none for now. */
  isSaturated: boolean
  answeredBy: Answerer
  lastWroteAt: Date | null
  /** When the customer wrote from an ad that nobody has replied to yet. */
  adAt: Date | null
  freeEntry: FreeEntry | null
  /** Newest last. */
  messages: ChatMessage[]
  /** Until when the business is shown to be typing, and what keeps the timer from ending it; null if it is not. */
  typing: { until: Date; cancel(): void } | null
  /** Messages written while offline. */
  unsent: { messageId: string; message: object }[]
}

export interface World {
  numbers: Map<string, BusinessNumber>
  customers: Map<string, Customer>
  templates: Map<string, SimulatedTemplate>
  /** When templates were edited, by id. */
  templateEdits: Map<string, Date[]>
  /** When approved templates were deleted, by name: their names cannot be used again for a while. */
  deletedTemplates: Map<string, Date>
  nextId: number
}

export const limits = {
  numbers: 50,
  customers: 500,
  messages: 300,
  templates: 500,
  unsent: 20,
  shownChars: 16_384,
} as const

export const createWorld = (): World => ({
  numbers: new Map(),
  customers: new Map(),
  templates: new Map(),
  templateEdits: new Map(),
  deletedTemplates: new Map(),
  nextId: 1,
})

export interface NewCustomer {
  numberId: string
  name: string
  phone: string
  username?: string | null
  hidesNumber?: boolean
  online?: boolean
  readsAtOnce?: boolean
}

/** Adds a phone. At the limit it replaces one that never wrote, else the one that was inactive longest. */
export function addCustomer(world: World, input: NewCustomer): Customer {
  if (world.customers.size >= limits.customers) removeLeastActive(world)
  const isLinked = world.numbers.get(input.numberId)?.network === 'linked'
  const customer: Customer = {
    id: `c${world.nextId++}`,
    numberId: input.numberId,
    name: input.name,
    username: input.username ?? null,
    waId: input.phone,
    userId: isLinked ? lidOf(input.phone) : userIdOf(input.numberId, input.phone),
    hidesNumber: input.hidesNumber ?? false,
    online: input.online ?? true,
    readsAtOnce: input.readsAtOnce ?? false,
    stopsMarketing: false,
    isSaturated: false,
    answeredBy: 'business',
    lastWroteAt: null,
    adAt: null,
    freeEntry: null,
    messages: [],
    typing: null,
    unsent: [],
  }
  world.customers.set(customer.id, customer)
  return customer
}

function removeLeastActive(world: World): void {
  let leastActive: Customer | undefined
  for (const customer of world.customers.values()) {
    if (leastActive === undefined || lastActiveMs(customer) < lastActiveMs(leastActive)) leastActive = customer
  }
  if (leastActive !== undefined) world.customers.delete(leastActive.id)
}

const lastActiveMs = ({ lastWroteAt }: Customer): number => lastWroteAt?.getTime() ?? 0

/**
 * Returns a business-scoped user id: a country and many digits. It is the same for the same phone even after a restart,
 * since conversations refer to it.
 */
export function userIdOf(numberId: string, phone: string): string {
  const country = countries.find(([prefix]) => phone.startsWith(prefix))?.[1] ?? 'US'
  const digest = createHash('sha256').update(`${numberId} ${phone}`).digest('hex')
  return `${country}.${BigInt(`0x1${digest.slice(0, 16)}`)}`
}

/** Returns the hidden id of a phone; linked devices see the same one at every number. */
export function lidOf(phone: string): string {
  const digest = createHash('sha256').update(`lid ${phone}`).digest()
  return `${100_000_000_000_000n + (digest.readBigUInt64BE() % 900_000_000_000_000n)}@lid`
}

const countries: readonly (readonly [string, string])[] = [
  ['55', 'BR'],
  ['52', 'MX'],
  ['54', 'AR'],
  ['34', 'ES'],
  ['44', 'GB'],
  ['1', 'US'],
]

export function findByPhone(world: World, numberId: string, phone: string): Customer | undefined {
  const wanted = phoneClass(phone)
  return findCustomer(world, (customer) => customer.numberId === numberId && phoneClass(customer.waId) === wanted)
}

export function findByUserId(world: World, numberId: string, userId: string): Customer | undefined {
  return findCustomer(world, (customer) => customer.numberId === numberId && customer.userId === userId)
}

function findCustomer(world: World, fits: (customer: Customer) => boolean): Customer | undefined {
  for (const customer of world.customers.values()) if (fits(customer)) return customer
  return undefined
}

export function findMessage(world: World, numberId: string, messageId: string): [Customer, ChatMessage] | undefined {
  for (const customer of world.customers.values()) {
    if (customer.numberId !== numberId) continue
    const message = customer.messages.findLast(({ id }) => id === messageId)
    if (message !== undefined) return [customer, message]
  }
  return undefined
}

/** Finds a message in a chat. */
export const messageIn = ({ messages }: Customer, id: string | null): ChatMessage | undefined =>
  id === null ? undefined : messages.findLast((message) => message.id === id)

export function addMessage(
  customer: Customer,
  message: Pick<ChatMessage, 'id' | 'from' | 'text' | 'at'> & Partial<ChatMessage>,
): ChatMessage {
  const full: ChatMessage = {
    kind: 'text',
    header: null,
    footer: null,
    buttons: [],
    offer: null,
    prompt: null,
    status: 'pending',
    errorCode: null,
    correlator: null,
    category: 'service',
    price: null,
    isPriceDelivered: false,
    arrivals: 1,
    file: null,
    place: null,
    cards: [],
    caption: null,
    quotes: null,
    reactions: { customer: null, business: null },
    isEdited: false,
    isWithdrawn: false,
    ...message,
    text: message.text.slice(0, limits.shownChars),
  }
  customer.messages.push(full)
  if (full.from !== 'customer') {
    customer.typing?.cancel()
    customer.typing = null
  }
  if (customer.messages.length > limits.messages) customer.messages.shift()
  return full
}

const historyLength = 50

/** Returns the newest texts of a chat that a phone would pass on. */
export const newestMessages = ({ messages }: Customer): ChatMessage[] =>
  messages.filter(({ kind, isWithdrawn }) => kind === 'text' && !isWithdrawn).slice(-historyLength)

const windowMs = 24 * 3_600_000

export function windowIsOpen(number: BusinessNumber, customer: Customer, now: Date): boolean {
  if (customer.lastWroteAt === null) return number.trustsUnknownWindows
  return now.getTime() < customer.lastWroteAt.getTime() + windowMs
}

/** Returns a number, with generated values for missing secrets and ids. */
export function newNumber(fields: Partial<BusinessNumber>): BusinessNumber {
  return {
    network: 'official',
    addressing: 'lid',
    trustsUnknownDevices: false,
    numberId: randomDigits(15),
    accountId: randomDigits(15),
    phone: '15550783881',
    name: 'Parley Demo',
    accessToken: `EAA${randomBytes(24).toString('hex')}`,
    appSecret: randomBytes(16).toString('hex'),
    verifyToken: randomBytes(12).toString('base64url'),
    callbackUrl: null,
    callbackLevel: 'application',
    wrongPins: 0,
    historyRequests: [],
    trustsUnknownWindows: false,
    paymentFails: false,
    freeServiceMessages: 1000,
    serviceMessages: { month: '', count: 0 },
    partner: null,
    ...healthyStatus,
    ...readySetup,
    ...fields,
  }
}

/** Returns a phone that devices can be linked to. Its id is the same after a restart, since chats refer to it. */
export const newPhone = (fields: { phone: string; name: string } & Partial<BusinessNumber>): BusinessNumber =>
  newNumber({ numberId: `phone-${fields.phone}`, ...fields, network: 'linked' })

/** Returns the default settings of a partner for a number. */
export const newPartnerSide = (): PartnerSide => ({
  apiKey: randomBytes(18).toString('base64url'),
  headers: {},
  signingSecret: null,
})
