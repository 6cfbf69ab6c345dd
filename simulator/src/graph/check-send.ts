import type { FileStore } from '../files/file-store.ts'
import type { BusinessNumber, SimulatedTemplate } from '../world.ts'
import { checkContent, type ReactionContent, type RichContent } from './check-content.ts'
import { checkInteractive, type InteractiveContent } from './check-interactive.ts'
import { checkTemplate, type FilledTemplate } from './check-template.ts'
import { type Body, GraphError, invalidParameter, isObject, missingParameter } from './graph-error.ts'

/** Where a message goes, as the caller wrote it (`input`) and as it is understood: a number or a user id. */
export interface Address {
  input: string
  phone: string | null
  userId: string | null
}

export interface SendRequest {
  to: Address
  correlator: string | null
  /** The message that it answers to. */
  quotes: string | null
  content:
    | { kind: 'text'; text: string }
    | ({ kind: 'template' } & FilledTemplate)
    | RichContent
    | ReactionContent
    | InteractiveContent
}

export type Checked = { act: 'read'; messageId: string } | ({ act: 'send' } & SendRequest)

const maxTextLength = 4096
const maxCorrelatorLength = 512
const maxIdLength = 255
const knownTypes = ['audio', 'contacts', 'document', 'image', 'interactive', 'location', 'reaction', 'sticker', 'video']

/** What a message may name: what the number has at the platform. */
export interface AtHand {
  templates: Iterable<SimulatedTemplate>
  files: FileStore
}

/** What a body for `/messages` asks for. Throws what the platform answers to a bad one. */
export function checkSend(body: unknown, number: BusinessNumber, { templates, files }: AtHand): Checked {
  if (!isObject(body)) throw invalidParameter('The parameter messaging_product is required.')
  if (body.messaging_product !== 'whatsapp') throw invalidParameter('The parameter messaging_product is required.')
  if (body.status !== undefined) return checkRead(body)
  const to = checkAddress(body, number)
  const correlator = checkCorrelator(body.biz_opaque_callback_data)
  const told = { act: 'send', to, correlator, quotes: checkContext(body.context) } as const
  const type = body.type ?? 'text'
  if (type === 'text') return { ...told, content: { kind: 'text', text: checkText(body.text) } }
  if (type === 'template') {
    const filled = checkTemplate(body.template, { templates, files }, number.numberId, to.phone === null)
    return { ...told, content: { kind: 'template', ...filled } }
  }
  const content = typeof type === 'string' ? checkContent(type, body, files, number.numberId) : null
  if (content !== null) return { ...told, content }
  if (type === 'interactive') return { ...told, content: checkInteractive(body.interactive) }
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

function checkRead(body: Body): Checked {
  if (body.status !== 'read') throw invalidParameter('Param status must be one of {READ}')
  if (typeof body.message_id !== 'string') throw missingParameter('Parameter message_id is required.')
  return { act: 'read', messageId: body.message_id }
}

// `to` wins when both are there.
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
  // The platform does not say what it counts; UTF-16 units are the strictest reading.
  if (body.trim() === '' || body.length > maxTextLength) {
    throw invalidParameter(`Param text['body'] must be at most ${maxTextLength} characters long.`)
  }
  if (preview !== undefined && typeof preview !== 'boolean') {
    throw invalidParameter("Param text['preview_url'] must be a boolean.")
  }
  return body
}
