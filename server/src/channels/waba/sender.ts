import type { Connection, WabaConnection } from '../connection/connection.ts'
import type { Connector, GivenFile, Order, Outgoing, Recipient, SendResult } from '../connector.ts'
import type { Choices } from '../interactive-options.ts'
import { judge } from './errors.ts'
import { bearer, type Call, type Exchange, exchange, type Wire } from './exchange.ts'
import { listOf, objectOf, readJson, textOf } from './json.ts'

const sendTimeoutMs = 20_000
const readTimeoutMs = 5_000

/** Connector for the official platform. `timeoutMs`: timeout of one call. */
export function wabaConnector(wire: Wire, timeoutMs: number = sendTimeoutMs): Connector<WabaConnection> {
  const to = (endpoint: string) =>
    cloudConnector<WabaConnection>(wire, timeoutMs, judge, ({ settings, numberId }) => ({
      url: `${settings.baseUrl}/${settings.version}/${encodeURIComponent(numberId)}/${endpoint}`,
      headers: bearer(settings.accessToken),
    }))
  const [messages, marketing] = [to('messages'), to('marketing_messages')]
  return {
    ...messages,
    send: async (connection, order) => {
      if (!connection.sendsMarketing || !isMarketing(order.message)) return messages.send(connection, order)
      const result = await marketing.send(connection, order)
      return isNoEndpoint(result) ? messages.send(connection, order) : result
    },
  }
}

const isMarketing = (message: Outgoing): boolean =>
  message.kind === 'template' && message.category?.toUpperCase() === 'MARKETING'

/** Whether the marketing endpoint is missing, in which case nothing was sent: the number may have lost access to it. */
const isNoEndpoint = (result: SendResult): boolean =>
  result.outcome === 'refused' &&
  (['2500', 'http_404'].includes(result.errorCode) ||
    (result.errorCode === '100' && result.effect === 'connection_unavailable'))

/** Connector for any API with the official platform's request bodies. */
export function cloudConnector<C extends Connection>(
  wire: Wire,
  timeoutMs: number,
  judgeRefusal: typeof judge,
  wayOf: (connection: C) => Pick<Call, 'url' | 'headers'>,
): Connector<C> {
  return {
    maxTextLength: 4096,
    takesChoices: true,
    send: async (connection, order) => {
      const body = messageBody(order)
      if (body === null) return { outcome: 'refused', errorCode: 'no_address', effect: 'none' }
      const call = { method: 'POST', ...wayOf(connection), body, timeoutMs, deadline: order.deadline } as const
      const result = resultOf(await exchange(wire, call), judgeRefusal)
      return hasFile(order.message) ? withFileGone(result) : result
    },
    markRead: async (connection, externalId) => {
      const body = { messaging_product: 'whatsapp', status: 'read', message_id: externalId }
      const call = {
        method: 'POST',
        ...wayOf(connection),
        body,
        timeoutMs: Math.min(timeoutMs, readTimeoutMs),
      } as const
      await exchange(wire, call)
    },
  }
}

/** Returns the platform's request body for an order; null if the recipient has no address. */
export function messageBody({ recipient, message, correlator }: Order): object | null {
  const address = addressOf(recipient)
  if (address === null) return null
  return {
    messaging_product: 'whatsapp',
    recipient_type: 'individual',
    ...address,
    ...contentOf(message),
    ...contextOf(message),
    biz_opaque_callback_data: correlator,
  }
}

// Without the plus, the platform may prepend the business's own country code.
function addressOf({ phone, userId }: Recipient): object | null {
  if (phone !== null) return { to: `+${phone}` }
  return userId === null ? null : { recipient: userId }
}

function contentOf(message: Outgoing): object {
  switch (message.kind) {
    case 'text':
      return { type: 'text', text: { preview_url: message.previewUrl, body: message.text } }
    case 'template':
      return { type: 'template', template: templateOf(message) }
    case 'media':
      return fileOf(message.file, message.caption)
    case 'choices':
      return { type: 'interactive', interactive: interactiveOf(message.text, message.choices) }
    case 'reaction':
      return { type: 'reaction', reaction: { message_id: message.about.externalId, emoji: message.emoji ?? '' } }
    default:
      return message satisfies never
  }
}

const contextOf = (message: Outgoing): object =>
  message.kind === 'reaction' || message.quoted === undefined
    ? {}
    : { context: { message_id: message.quoted.externalId } }

function templateOf({ name, language, parameters, names, header }: Extract<Outgoing, { kind: 'template' }>): object {
  const filled = parameters.map((text, n) => {
    const named = names?.[n] === undefined ? {} : { parameter_name: names[n] }
    return { type: 'text', ...named, text }
  })
  const components = [
    ...(header === undefined ? [] : [{ type: 'header', parameters: [fileOf(header, '')] }]),
    ...(filled.length === 0 ? [] : [{ type: 'body', parameters: filled }]),
  ]
  return { name, language: { code: language }, ...(components.length === 0 ? {} : { components }) }
}

function interactiveOf(text: string, choices: Choices): object {
  const { footer } = choices
  const words = { body: { text }, ...(footer === undefined ? {} : { footer: { text: footer } }) }
  if ('list' in choices) {
    const { button, rows } = choices.list
    return { type: 'list', ...words, action: { button, sections: [{ rows }] } }
  }
  const buttons = choices.buttons.map(({ id, title }) => ({ type: 'reply', reply: { id, title } }))
  return { type: 'button', ...words, action: { buttons } }
}

/** Returns the platform's fields for a file. A voice note is audio with a flag. */
function fileOf({ kind, name, platformId }: GivenFile, caption: string): object {
  const id = { id: platformId ?? '' }
  const words = caption === '' ? {} : { caption }
  if (kind === 'voice') return { type: 'audio', audio: { ...id, voice: true } }
  if (kind !== 'document') return { type: kind, [kind]: { ...id, ...words } }
  return { type: 'document', document: { ...id, ...words, ...(name === null ? {} : { filename: name }) } }
}

const hasFile = (message: Outgoing): boolean =>
  message.kind === 'media' || (message.kind === 'template' && message.header !== undefined)

/** Codes that may mean a missing file: `Invalid parameter`, `Unknown object`, `Media upload error`. */
const codesOfFiles = new Set(['100', '1006', '131053'])

const withFileGone = (result: SendResult): SendResult =>
  result.outcome === 'refused' && codesOfFiles.has(result.errorCode) ? { ...result, isFileGone: true } : result

/** Returns the result of a send from the platform's answer. */
export function resultOf(answer: Exchange, judgeRefusal: typeof judge = judge): SendResult {
  if (answer.outcome === 'not_sent') return { outcome: 'unreachable', errorCode: answer.code }
  if (answer.outcome === 'lost') return { outcome: 'unknown', errorCode: answer.code }
  const body = readJson(answer.body)
  if (answer.status >= 200 && answer.status < 300) return acceptanceOf(body)
  const { errorCode, meaning } = judgeRefusal(body, answer.status)
  return { ...meaning, errorCode }
}

function acceptanceOf(body: unknown): SendResult {
  const { messages, contacts } = objectOf(body)
  const externalId = textOf(objectOf(listOf(messages)[0]).id)
  if (externalId === null) return { outcome: 'unknown', errorCode: 'no_message_id' }
  const phone = textOf(objectOf(listOf(contacts)[0]).wa_id)
  const platformUserPhone = phone !== null && /^\d{4,20}$/.test(phone) ? phone : null
  return { outcome: 'accepted', externalId, platformUserPhone }
}
