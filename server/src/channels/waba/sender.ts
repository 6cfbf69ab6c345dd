import type { Connection, WabaConnection } from '../connection/connection.ts'
import type { Connector, Order, Outgoing, Recipient, SendResult } from '../connector.ts'
import { judge } from './errors.ts'
import { bearer, type Call, type Exchange, exchange, type Wire } from './exchange.ts'
import { listOf, objectOf, readJson, textOf } from './json.ts'

const sendTimeoutMs = 20_000
const readTimeoutMs = 5_000

/** The way out over the official platform. `timeoutMs` bounds one call. */
export function wabaConnector(wire: Wire, timeoutMs: number = sendTimeoutMs): Connector<WabaConnection> {
  return cloudConnector(wire, timeoutMs, judge, ({ settings, numberId }) => ({
    url: `${settings.baseUrl}/${settings.version}/${encodeURIComponent(numberId)}/messages`,
    headers: bearer(settings.accessToken),
  }))
}

/** The way out over an interface with the official platform's bodies, wherever they go to. */
export function cloudConnector<C extends Connection>(
  wire: Wire,
  timeoutMs: number,
  judgeRefusal: typeof judge,
  wayOf: (connection: C) => Pick<Call, 'url' | 'headers'>,
): Connector<C> {
  return {
    maxTextLength: 4096,
    send: async (connection, order) => {
      const body = messageBody(order)
      if (body === null) return { outcome: 'refused', errorCode: 'no_address', effect: 'none' }
      const call = { method: 'POST', ...wayOf(connection), body, timeoutMs, deadline: order.deadline } as const
      return resultOf(await exchange(wire, call), judgeRefusal)
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

/** The platform's request for an order; null when there is nowhere to send it. */
export function messageBody({ recipient, message, correlator }: Order): object | null {
  const address = addressOf(recipient)
  if (address === null) return null
  return {
    messaging_product: 'whatsapp',
    recipient_type: 'individual',
    ...address,
    ...contentOf(message),
    biz_opaque_callback_data: correlator,
  }
}

// Without the plus the platform may put the business's own country code in front.
function addressOf({ phone, userId }: Recipient): object | null {
  if (phone !== null) return { to: `+${phone}` }
  return userId === null ? null : { recipient: userId }
}

function contentOf(message: Outgoing): object {
  if (message.kind === 'text') return { type: 'text', text: { preview_url: message.previewUrl, body: message.text } }
  const { name, language, parameters, names } = message
  const filled = parameters.map((text, n) => {
    const named = names?.[n] === undefined ? {} : { parameter_name: names[n] }
    return { type: 'text', ...named, text }
  })
  const components = filled.length === 0 ? {} : { components: [{ type: 'body', parameters: filled }] }
  return { type: 'template', template: { name, language: { code: language }, ...components } }
}

/** Reads what became of a send. */
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
