import type { Connection, WabaConnection } from '../connection/connection.ts'
import type {
  Connector,
  FilledInputs,
  LinkedFile,
  Order,
  OutgoingMessage,
  PlatformFile,
  Recipient,
  SendResult,
} from '../connector.ts'
import type { Choices } from '../interactive-options.ts'
import { promptMessage } from '../prompts.ts'
import { interpretError } from './errors.ts'
import { listOf, objectOf, parseJson, textOf } from './json.ts'
import { bearer, type Call, type CallResult, callPlatform, type PlatformHttp } from './platform-call.ts'

const sendTimeoutMs = 20_000
const readTimeoutMs = 5_000

/** Connector for the official platform. `timeoutMs`: timeout of one call. */
export function wabaConnector(http: PlatformHttp, timeoutMs: number = sendTimeoutMs): Connector<WabaConnection> {
  const connectorFor = (endpoint: string) =>
    cloudConnector<WabaConnection>(http, timeoutMs, interpretError, ({ settings, numberId }) => ({
      url: `${settings.baseUrl}/${settings.version}/${encodeURIComponent(numberId)}/${endpoint}`,
      headers: bearer(settings.accessToken),
    }))
  const [messages, marketing] = [connectorFor('messages'), connectorFor('marketing_messages')]
  return {
    ...messages,
    send: async (connection, order) => {
      if (!connection.sendsMarketing || !isMarketing(order.message)) return messages.send(connection, order)
      const result = await marketing.send(connection, order)
      return isEndpointMissing(result) ? messages.send(connection, order) : result
    },
  }
}

const isMarketing = (message: OutgoingMessage): boolean =>
  message.kind === 'template' && message.category?.toUpperCase() === 'MARKETING'

/** Whether the marketing endpoint is missing, in which case nothing was sent: the number may have lost access to it. */
const isEndpointMissing = (result: SendResult): boolean =>
  result.outcome === 'refused' &&
  (['2500', 'http_404'].includes(result.errorCode) ||
    (result.errorCode === '100' && result.effect === 'connection_unavailable'))

/** Connector for any API with the official platform's request bodies. */
export function cloudConnector<C extends Connection>(
  http: PlatformHttp,
  timeoutMs: number,
  interpret: typeof interpretError,
  targetOf: (connection: C) => Pick<Call, 'url' | 'headers'>,
): Connector<C> {
  return {
    maxTextLength: 4096,
    supportsChoices: true,
    send: async (connection, order) => {
      const body = messageBody(order)
      if (body === null) return { outcome: 'refused', errorCode: 'no_address', effect: 'none' }
      const call = { method: 'POST', ...targetOf(connection), body, timeoutMs, deadline: order.deadline } as const
      const result = resultOf(await callPlatform(http, call), interpret)
      return hasFile(order.message) ? withFileGone(result) : result
    },
    markRead: async (connection, externalId, _customer, isTyping = false) => {
      const typing = isTyping ? { typing_indicator: { type: 'text' } } : {}
      const body = { messaging_product: 'whatsapp', status: 'read', message_id: externalId, ...typing }
      const call = {
        method: 'POST',
        ...targetOf(connection),
        body,
        timeoutMs: Math.min(timeoutMs, readTimeoutMs),
      } as const
      await callPlatform(http, call)
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
    ...contentOf(message, correlator),
    ...contextOf(message),
    biz_opaque_callback_data: correlator,
  }
}

// Without the plus, the platform may prepend the business's own country code.
function addressOf({ phone, userId }: Recipient): object | null {
  if (phone !== null) return { to: `+${phone}` }
  return userId === null ? null : { recipient: userId }
}

function contentOf(message: OutgoingMessage, correlator: string): object {
  switch (message.kind) {
    case 'text':
      return { type: 'text', text: { preview_url: message.previewUrl, body: message.text } }
    case 'template':
      return { type: 'template', template: templateOf(message) }
    case 'media':
      return fileOf(message.file, message.caption)
    case 'choices':
      return { type: 'interactive', interactive: interactiveOf(message.text, message.choices) }
    case 'prompt':
      return { type: 'interactive', interactive: promptMessage(message.text, message.prompt, correlator) }
    case 'reaction':
      return { type: 'reaction', reaction: { message_id: message.about.externalId, emoji: message.emoji ?? '' } }
    default:
      return message satisfies never
  }
}

const contextOf = (message: OutgoingMessage): object =>
  message.kind === 'reaction' || message.quoted === undefined
    ? {}
    : { context: { message_id: message.quoted.externalId } }

function templateOf({
  name,
  language,
  parameters,
  names,
  header,
  inputs = {},
}: Extract<OutgoingMessage, { kind: 'template' }>): object {
  const filled = parameters.map((text, n) => {
    const named = names?.[n] === undefined ? {} : { parameter_name: names[n] }
    return { type: 'text', ...named, text }
  })
  const components = [
    ...(header === undefined ? [] : [{ type: 'header', parameters: [fileOf(header, '')] }]),
    ...headerInputs(inputs),
    ...(filled.length === 0 ? [] : [{ type: 'body', parameters: filled }]),
    ...(inputs.buttons ?? []).map(buttonInput),
  ]
  return { name, language: { code: language }, ...(components.length === 0 ? {} : { components }) }
}

function headerInputs({ headerText, headerLocation }: FilledInputs): object[] {
  if (headerText !== undefined) {
    const named = headerText.name === null ? {} : { parameter_name: headerText.name }
    return [{ type: 'header', parameters: [{ type: 'text', ...named, text: headerText.value }] }]
  }
  if (headerLocation === undefined) return []
  // Coordinates as text, as in the platform's examples of templates.
  const { latitude, longitude, ...words } = headerLocation
  const location = { latitude: String(latitude), longitude: String(longitude), ...words }
  return [{ type: 'header', parameters: [{ type: 'location', location }] }]
}

function buttonInput({ index, type, value }: NonNullable<FilledInputs['buttons']>[number]): object {
  if (type === 'quick_reply') {
    return { type: 'button', sub_type: type, index: String(index), parameters: [{ type: 'payload', payload: value }] }
  }
  const isCoupon = type === 'copy_code'
  const parameter = isCoupon ? { type: 'coupon_code', coupon_code: value } : { type: 'text', text: value }
  return { type: 'button', sub_type: isCoupon ? type : 'url', index: String(index), parameters: [parameter] }
}

function interactiveOf(text: string, choices: Choices): object {
  const { footer } = choices
  const texts = { body: { text }, ...(footer === undefined ? {} : { footer: { text: footer } }) }
  if ('list' in choices) {
    const { button, rows } = choices.list
    return { type: 'list', ...texts, action: { button, sections: [{ rows }] } }
  }
  const buttons = choices.buttons.map(({ id, title }) => ({ type: 'reply', reply: { id, title } }))
  return { type: 'button', ...texts, action: { buttons } }
}

/** Returns the platform's fields for a file. A voice note is audio with a flag. */
function fileOf(file: PlatformFile | LinkedFile, caption: string): object {
  const { kind, name } = file
  const id = 'url' in file ? { link: file.url } : { id: file.platformId ?? '' }
  const texts = caption === '' ? {} : { caption }
  if (kind === 'voice') return { type: 'audio', audio: { ...id, voice: true } }
  if (kind !== 'document') return { type: kind, [kind]: { ...id, ...texts } }
  return { type: 'document', document: { ...id, ...texts, ...(name === null ? {} : { filename: name }) } }
}

const hasFile = (message: OutgoingMessage): boolean =>
  message.kind === 'media' ||
  (message.kind === 'template' && message.header !== undefined && !('url' in message.header))

/** Codes that may mean a missing file: `Invalid parameter`, `Unknown object`, `Media upload error`. */
const fileErrorCodes = new Set(['100', '1006', '131053'])

const withFileGone = (result: SendResult): SendResult =>
  result.outcome === 'refused' && fileErrorCodes.has(result.errorCode) ? { ...result, isFileGone: true } : result

/** Returns the result of a send from the platform's answer. */
export function resultOf(answer: CallResult, interpret: typeof interpretError = interpretError): SendResult {
  if (answer.outcome === 'not_sent') return { outcome: 'unreachable', errorCode: answer.code }
  if (answer.outcome === 'lost') return { outcome: 'unknown', errorCode: answer.code }
  const body = parseJson(answer.body)
  if (answer.status >= 200 && answer.status < 300) return acceptanceOf(body)
  const { errorCode, meaning } = interpret(body, answer.status)
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
