import { decodeCursor, encodeCursor } from '../../base/cursor.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { badRequest, notFound } from '../../base/errors.ts'
import { version } from '../../base/version.ts'
import type { TeamApi } from '../../team/team-api.ts'
import { decryptAnswer, renderPayload } from '../deliver/delivery.ts'
import { decryptEndpoint, type EndpointKey, requireEndpoint } from '../endpoint/endpoint.ts'
import { EndpointParams } from '../endpoint/schema.ts'
import { requireEvent, resendEvent, sendTest } from './change-endpoint.ts'
import {
  type AnswerFilter,
  type DeliveryPage,
  findDelivery,
  type LoggedAttempt,
  type LoggedDelivery,
  listDeliveries,
} from './deliveries.ts'
import {
  DeliveriesQuery,
  DeliveryDetail,
  DeliveryList,
  DeliveryParams,
  Queued,
  TestRequest,
} from './delivery-schema.ts'
import { endpointPath, parseTime, type WebhookDeps } from './read-endpoint.ts'

export function deliveryRoutes(api: TeamApi, deps: WebhookDeps): void {
  api.post(`${endpointPath}/test`, 'admin', {
    operationId: 'testWebhook',
    summary: 'Send a test event',
    description:
      'For admins. An invented event, signed and shown as a true one, for this endpoint alone. It overtakes what waits, and is tried once.',
    params: EndpointParams,
    body: TestRequest,
    answers: { 202: Queued },
    errors: [409],
    run: async ({ member, params: { endpointId }, body }) => {
      const eventId = await sendTest(deps, member, endpointId, body.event)
      return { delivery: { endpointId, eventId } }
    },
  })
  api.get(`${endpointPath}/deliveries`, 'member', {
    operationId: 'listDeliveries',
    summary: 'List deliveries',
    description:
      'What became of each event of the last 30 days, the newest first. Events still to be read are not among them.',
    params: EndpointParams,
    query: DeliveriesQuery,
    answers: { 200: DeliveryList },
    run: async ({ member: { workspaceId }, params: { endpointId }, query }) => {
      const { state = null, event = null, about = null, answer, from, to, limit, cursor } = query
      const endpoint = await requireEndpoint(deps.db.sql, { workspaceId, id: endpointId })
      const filter = {
        state,
        event,
        about,
        answer: answer === undefined ? null : parseAnswerFilter(answer),
        from: from === undefined ? null : parseTime('from', from, 'query'),
        to: to === undefined ? null : parseTime('to', to, 'query'),
      }
      const before = cursor === undefined ? null : parseCursor(cursor, endpointId)
      const page = await listDeliveries(deps.db.sql, endpoint, filter, { before, limit })
      return {
        deliveries: page.rows.map(presentItem),
        nextCursor: page.before === null ? null : encodeCursor([endpointId, page.before]),
      }
    },
  })
  api.get(`${endpointPath}/deliveries/:eventId`, 'admin', {
    operationId: 'getDelivery',
    summary: 'Read a delivery',
    description: 'For admins: every attempt with the beginning of its answer, and the request as it is sent.',
    params: DeliveryParams,
    answers: { 200: DeliveryDetail },
    run: ({ member: { workspaceId }, params: { endpointId, eventId } }) =>
      readDelivery(deps, { workspaceId, id: endpointId }, eventId),
  })
  api.post(`${endpointPath}/deliveries/:eventId/resend`, 'admin', {
    operationId: 'resendDelivery',
    summary: 'Send an event again',
    description:
      'For admins. Sent at once whatever became of it before, with the same `webhook-id`, and by a new round of the schedule if it fails. Also for an event of the last 30 days that the endpoint was never sent.',
    params: DeliveryParams,
    answers: { 202: Queued },
    errors: [409],
    run: async ({ member, params: { endpointId, eventId } }) => {
      await resendEvent(deps, member, endpointId, eventId)
      return { delivery: { endpointId, eventId } }
    },
  })
}

async function readDelivery(deps: WebhookDeps, key: EndpointKey, eventId: string) {
  const { sql } = deps.db
  const endpoint = await requireEndpoint(sql, key)
  const event = await requireEvent(sql, endpoint, eventId)
  const found = await findDelivery(sql, endpoint, event.position)
  if (found === undefined)
    throw notFound('This endpoint was sent no such event in the last 30 days; resend it to send it now')
  return deps.keyStore.withKeyring(endpoint.workspaceId, (keyring) => {
    const ownDelivery = Object.keys(decryptEndpoint(keyring, endpoint).settings.headers)
    const masked = found.masked || endpoint.phoneVisibility === 'masked'
    return {
      delivery: {
        ...presentDelivery(found),
        attemptList: found.attemptList.map((attempt) => presentAttempt(keyring, key.id, found.position, attempt)),
        request: {
          headers: { ...headersOf(eventId, event.name), ...Object.fromEntries(ownDelivery.map((name) => [name, '…'])) },
          body: renderPayload(keyring, { eventId, name: event.name, payload: event.payload }, masked, deps.present),
        },
      },
    }
  })
}

const headersOf = (eventId: string, name: string) => ({
  'content-type': 'application/json',
  'user-agent': `Parley/${version}`,
  'webhook-id': eventId,
  'webhook-event': name,
})

function presentItem(row: DeliveryPage['rows'][number]) {
  const { at, status, ms, error } = row
  const lastAttempt =
    at === null ? null : { at: at.toISOString(), status, ms: ms ?? 0, error, explanation: explain({ status, error }) }
  return { ...presentDelivery(row), lastAttempt }
}

function presentDelivery({ eventId, event, subjectId, occurredAt, state, attempts, dueAt }: LoggedDelivery) {
  const nextAttemptAt = state === 'pending' ? (dueAt?.toISOString() ?? null) : null
  return { eventId, event, subjectId, occurredAt: occurredAt.toISOString(), state, attempts, nextAttemptAt }
}

/** `500`, `5xx` or `none`. */
function parseAnswerFilter(answer: string): AnswerFilter {
  if (answer === 'none') return 'none'
  return { from: Number(answer.replace('xx', '00')), to: Number(answer.replace('xx', '99')) }
}

function parseCursor(text: string, endpointId: string): number {
  const [endpoint, position, extra] = decodeCursor(text) ?? []
  if (endpoint !== endpointId || !Number.isSafeInteger(position) || extra !== undefined) {
    throw badRequest('Invalid cursor format')
  }
  return position as number
}

const errorTexts: Record<string, string> = {
  invalid_address: 'The address cannot be used: change it.',
  forbidden_address: 'The name leads to an address that is not public. The operator may allow it.',
  invalid_request: 'The request could not be made: check the headers of the endpoint.',
  dns: 'The name of the host could not be resolved.',
  connect: 'No connection came about: is the receiver running, and open to the internet?',
  tls: 'The encrypted connection failed: check the certificate of the receiver.',
  withheld: 'The service held it back, and sends it again.',
  timeout: 'The answer took longer than 15 seconds: answer first, then work.',
  reset: 'The connection ended before the answer was there.',
  answer: 'What came back is no answer in HTTP.',
  internal: 'The service could not make the body. The log of the server says more.',
  expired: 'The event is no longer kept.',
}

/** What an attempt came to, in a sentence; null when it was taken. */
export function explain({ status, error }: Pick<LoggedAttempt, 'status' | 'error'>): string | null {
  if (status === null) return errorTexts[error ?? ''] ?? 'No answer came.'
  if (status >= 200 && status < 300) return null
  if (status === 410) return 'It answered 410, which asks us to stop: the endpoint was disabled.'
  if (status >= 300 && status < 400)
    return `It answered ${status}: redirects are not followed, so set the final address.`
  return `It answered ${status}. Only 2xx tells that the event was taken.`
}

function presentAttempt(keyring: Keyring, endpointId: string, position: number, attempt: LoggedAttempt) {
  const { number, at, status, ms, error, answer } = attempt
  return {
    number,
    at: at.toISOString(),
    status,
    ms,
    error,
    explanation: explain(attempt),
    answer: answer === null ? null : decryptAnswer(keyring, { endpointId, position, number }, answer),
  }
}
