import type { FastifyReply } from 'fastify'
import { phoneCountry } from '../../../server/src/base/phone/phone.ts'
import type { FileStore } from '../files/file-store.ts'
import { addressOf, markRead, showTyping, startStatuses } from '../message-statuses.ts'
import { takeBySending } from '../other-apps.ts'
import type { Platform } from '../platform.ts'
import { componentOf, type SimulatedTemplate } from '../simulated-template.ts'
import { makeWamid } from '../wamid.ts'
import {
  addCustomer,
  addMessage,
  type BusinessNumber,
  type Customer,
  findByPhone,
  findByUserId,
  findMessage,
  messageIn,
  windowIsOpen,
} from '../world.ts'
import {
  checkContent,
  checkInteractive,
  type InteractiveContent,
  type ReactionContent,
  type RichContent,
} from './check-content.ts'
import { checkTemplate, type FilledTemplate } from './check-template.ts'
import { answerOr } from './fault-answer.ts'
import { type Body, GraphError, invalidParameter, isObject, missingParameter } from './graph-error.ts'

/** Recipient, as the caller wrote it (`input`) and as parsed: a number or a user id. */
interface Address {
  input: string
  phone: string | null
  userId: string | null
}

interface SendRequest {
  to: Address
  correlator: string | null
  /** Id of the message that it replies to. */
  quotes: string | null
  content:
    | { kind: 'text'; text: string }
    | ({ kind: 'template' } & FilledTemplate)
    | RichContent
    | ReactionContent
    | InteractiveContent
}

interface ReadRequest {
  messageId: string
  isTyping: boolean
}

type ParsedRequest = ({ act: 'read' } & ReadRequest) | ({ act: 'send' } & SendRequest)

const maxTextLength = 4096
const maxCorrelatorLength = 512
const maxIdLength = 255
const knownTypes = ['audio', 'contacts', 'document', 'image', 'interactive', 'location', 'reaction', 'sticker', 'video']

/** Templates and files that a message may refer to. */
interface Resources {
  templates: Iterable<SimulatedTemplate>
  files: FileStore
}

/** Parses a body for `/messages`. Throws the platform's error for an invalid one. */
function checkSend(body: unknown, number: BusinessNumber, { templates, files }: Resources): ParsedRequest {
  if (!isObject(body)) throw invalidParameter('The parameter messaging_product is required.')
  if (body.messaging_product !== 'whatsapp') throw invalidParameter('The parameter messaging_product is required.')
  if (body.status !== undefined) return checkRead(body)
  const to = checkAddress(body, number)
  const correlator = checkCorrelator(body.biz_opaque_callback_data)
  const common = { act: 'send', to, correlator, quotes: checkContext(body.context) } as const
  const type = body.type ?? 'text'
  if (type === 'text') return { ...common, content: { kind: 'text', text: checkText(body.text) } }
  if (type === 'template') {
    const filled = checkTemplate(body.template, { templates, files }, number.numberId, to.phone === null)
    return { ...common, content: { kind: 'template', ...filled } }
  }
  const content = typeof type === 'string' ? checkContent(type, body, files, number.numberId) : null
  if (content !== null) return { ...common, content }
  if (type === 'interactive') return { ...common, content: checkInteractive(body.interactive) }
  throw invalidParameter(`Param type must be one of {${['TEXT', 'TEMPLATE', ...knownTypes].join(', ').toUpperCase()}}`)
}

function checkContext(context: unknown): string | null {
  if (context === undefined) return null
  if (!isObject(context)) throw invalidParameter('Param context must be a JSON object.')
  const { message_id: id } = context
  if (typeof id !== 'string' || id === '') throw missingParameter('Parameter context.message_id is required.')
  if (id.length <= maxIdLength && id.startsWith('wamid.')) return id
  throw new GraphError(131009, { details: 'Parameter context.message_id is not a valid message id.' })
}

function checkRead(body: Body): ParsedRequest {
  if (body.status !== 'read') throw invalidParameter('Param status must be one of {READ}')
  if (typeof body.message_id !== 'string') throw missingParameter('Parameter message_id is required.')
  return { act: 'read', messageId: body.message_id, isTyping: checkTyping(body.typing_indicator) }
}

function checkTyping(indicator: unknown): boolean {
  if (indicator === undefined) return false
  if (isObject(indicator) && indicator.type === 'text') return true
  throw invalidParameter("Param typing_indicator['type'] must be one of {TEXT}")
}

// `to` takes precedence if both are present.
function checkAddress(body: Body, number: BusinessNumber): Address {
  const { to, recipient, recipient_type: type } = body
  if (type !== undefined && type !== 'individual')
    throw invalidParameter('Param recipient_type must be one of {INDIVIDUAL}')
  if (typeof to === 'string' && to !== '') {
    const phone = to.replace(/[\s+().-]/g, '')
    if (!/^\d{5,20}$/.test(phone))
      throw new GraphError(131009, { details: 'Parameter to is not a valid phone number.' })
    if (phone === number.phone) throw new GraphError(131021)
    return { input: to, phone, userId: null }
  }
  if (to !== undefined && to !== '') throw invalidParameter('Param to must be a string.')
  if (typeof recipient !== 'string') throw invalidParameter('The parameter to is required.')
  if (!/^[A-Z]{2}\.(ENT\.)?[A-Za-z0-9]{1,128}$/.test(recipient)) {
    throw new GraphError(131009, { details: 'Parameter recipient is not a valid user id.' })
  }
  return { input: recipient, phone: null, userId: recipient }
}

function checkCorrelator(value: unknown): string | null {
  if (value === undefined) return null
  if (typeof value === 'string' && value.length <= maxCorrelatorLength) return value
  throw invalidParameter(`Param biz_opaque_callback_data must be at most ${maxCorrelatorLength} characters long.`)
}

function checkText(text: unknown): string {
  if (!isObject(text)) throw missingParameter('Parameter text is required.')
  const { body, preview_url: preview } = text
  if (body === undefined) throw missingParameter('Parameter text.body is required.')
  if (typeof body !== 'string') throw invalidParameter("Param text['body'] must be a string.")
  // The platform does not document what it counts; UTF-16 units are the strictest reading.
  if (body.trim() === '' || body.length > maxTextLength) {
    throw invalidParameter(`Param text['body'] must be at most ${maxTextLength} characters long.`)
  }
  if (preview !== undefined && typeof preview !== 'boolean') {
    throw invalidParameter("Param text['preview_url'] must be a boolean.")
  }
  return body
}

const windowClosedCode = 131047

/** Accepts a message, which does not mean that it is delivered. `failWith` is the code with which delivery fails. */
export function acceptSend(
  platform: Platform,
  number: BusinessNumber,
  request: SendRequest,
  failWith: number | null,
): object {
  const { to, content } = request
  const customer = findOrCreateCustomer(platform, number, to)
  if (customer.stopsMarketing && isMarketing(content)) throw new GraphError(131050)
  const id = makeWamid(addressOf(customer), 'outbound')
  const isTemplate = content.kind === 'template'
  const now = platform.clock.now()
  const message = addMessage(customer, { ...shownOf(customer, request), id, from: 'business', at: now })
  const mayWrite = isTemplate || windowIsOpen(number, customer, now)
  const failure = failWith ?? (mayWrite ? failureOf(customer, content) : windowClosedCode)
  if (content.kind === 'reaction' && failure === null) react(customer, content)
  if (!isTemplate && failure === null) takeBySending({ customer })
  startStatuses({ platform, number, customer }, message, failure)
  platform.changed()
  const known = to.phone === null ? { user_id: to.input } : { wa_id: customer.waId }
  return {
    messaging_product: 'whatsapp',
    contacts: [{ input: to.input, ...known }],
    messages: [{ id, ...(isTemplate ? { message_status: 'accepted' } : {}) }],
  }
}

type Content = SendRequest['content']

const isMarketing = (content: Content): boolean =>
  content.kind === 'template' && content.template.category === 'MARKETING'

function shownOf(customer: Customer, { content, correlator, quotes }: SendRequest) {
  if (content.kind === 'reaction') return { kind: 'quiet', text: content.emoji ?? '', correlator }
  // A reply to a message that no longer exists is delivered without its quote.
  const common = { correlator, text: content.text, quotes: messageIn(customer, quotes)?.id ?? null }
  if (content.kind === 'template') return { ...common, kind: content.kind, ...content.parts, ...dressOf(content) }
  return content.kind === 'text'
    ? { ...common, kind: content.kind }
    : { ...common, kind: content.kind, ...content.parts }
}

const notFoundCode = 131009
const ecosystemCode = 131049

/** Marketing is not delivered there. Canada and the Caribbean share the code. */
const isInUnitedStates = ({ waId }: Customer): boolean => phoneCountry(waId)?.country === 'US'

// A reaction to an unknown message or to another reaction is accepted first and fails later.
function failureOf(customer: Customer, content: Content): number | null {
  if (content.kind === 'text') return null
  if (isMarketing(content) && (customer.isSaturated || isInUnitedStates(customer))) return ecosystemCode
  if (content.kind !== 'reaction') return content.failWith
  const about = messageIn(customer, content.messageId)
  return about === undefined || about.kind === 'quiet' || about.isWithdrawn ? notFoundCode : null
}

function react(customer: Customer, { messageId, emoji }: Extract<Content, { kind: 'reaction' }>): void {
  const about = messageIn(customer, messageId)
  if (about !== undefined) about.reactions.business = emoji
}

// Creates a phone for an unknown number; throws for an unknown user id.
function findOrCreateCustomer(platform: Platform, number: BusinessNumber, to: Address): Customer {
  const { world } = platform
  if (to.phone === null) {
    const known = findByUserId(world, number.numberId, to.input)
    if (known === undefined) throw new GraphError(131009, { details: 'Parameter recipient is not a known user id.' })
    return known
  }
  const known = findByPhone(world, number.numberId, to.phone)
  const phone = waIdOf(to.phone)
  return known ?? addCustomer(world, { numberId: number.numberId, name: `+${phone}`, phone })
}

function dressOf({ template, header, code, payloads }: Extract<Content, { kind: 'template' }>) {
  const buttons = componentOf(template, 'BUTTONS')?.buttons ?? []
  const [first] = buttons
  return {
    header,
    footer: componentOf(template, 'FOOTER')?.text ?? null,
    ...(Object.keys(payloads).length > 0 && { payloads }),
    buttons: code === null ? buttons.map(({ text }) => text) : [],
    ...(code !== null && first !== undefined && { prompt: { type: 'code' as const, title: first.text, code } }),
    category: template.category.toLowerCase(),
  }
}

/** Marks messages of the customer up to this one as read by the business, which may be shown to be typing. */
export function acceptRead(platform: Platform, number: BusinessNumber, { messageId, isTyping }: ReadRequest): object {
  const found = findMessage(platform.world, number.numberId, messageId)
  if (found === undefined || found[1].from !== 'customer') {
    throw new GraphError(131009, { details: 'Message id is not a message that this number received.' })
  }
  markRead(platform, ...found)
  if (isTyping) showTyping(platform, found[0])
  return { success: true }
}

/**
 * Returns the platform's id for a number that has not written yet. Accounts of most of Brazil are older than the ninth
 * digit, and Mexican mobiles keep their 1, whatever people dial today.
 */
function waIdOf(digits: string): string {
  const rule = oldSpellings.find(({ shape }) => shape.test(digits))
  return rule === undefined ? digits : digits.replace(rule.shape, rule.waId)
}

const oldSpellings = [
  { shape: /^55(?<area>[3-9][1-9])9(?<local>[6-9]\d{7})$/, waId: '55$<area>$<local>' },
  { shape: /^52(?<rest>[2-9]\d{9})$/, waId: '521$<rest>' },
]

/** Endpoints of a number that take messages; the second one only marketing templates. */
export const messageEndpoints = ['messages', 'marketing_messages'] as const

/** Accepts a message or a read receipt for a number, unless a fault applies. */
export function handleMessage(
  platform: Platform,
  number: BusinessNumber,
  body: unknown,
  reply: FastifyReply,
  endpoint: (typeof messageEndpoints)[number] = 'messages',
): unknown {
  if (!number.registered) throw new GraphError(133010)
  const checked = checkSend(body, number, { templates: platform.world.templates.values(), files: platform.files })
  if (checked.act === 'read') {
    return answerOr(platform, reply, 'read', () => acceptRead(platform, number, checked))
  }
  if (endpoint === 'marketing_messages' && !isMarketing(checked.content)) {
    throw invalidParameter('Only templates of the category MARKETING can be sent to this endpoint.')
  }
  const recipient = [checked.to.phone, checked.to.userId]
  return answerOr(platform, reply, 'send', (failWith) => acceptSend(platform, number, checked, failWith), recipient)
}
