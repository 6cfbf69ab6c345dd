import { decodeCursor, encodeCursor } from '../../base/cursor.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { badRequest, notFound } from '../../base/errors.ts'
import type { TeamApi } from '../../team/team-api.ts'
import { decryptAnswer, headersOf, renderPayload } from '../deliver/delivery.ts'
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
  QueuedDelivery,
  TestRequest,
} from './delivery-schema.ts'
import { endpointPath, parseTime, type WebhookDeps } from './read-endpoint.ts'

export function deliveryRoutes(api: TeamApi, deps: WebhookDeps): void {
  api.post(`${endpointPath}/test`, 'admin', {
    operationId: 'testWebhook',
    summary: 'Send a test event',
    description:
      'For admins. Sends a sample event, signed like a real one, to this endpoint only. It bypasses pending events and is tried once.',
    params: EndpointParams,
    body: TestRequest,
    answers: { 202: QueuedDelivery },
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
      'Deliveries of the last 30 days, newest first. Without events that the endpoint’s queue has not read yet.',
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
    description: 'For admins. All attempts with the start of each response, and the request.',
    params: DeliveryParams,
    answers: { 200: DeliveryDetail },
    run: ({ member: { workspaceId }, params: { endpointId, eventId } }) =>
      readDelivery(deps, { workspaceId, id: endpointId }, eventId),
  })
  api.post(`${endpointPath}/deliveries/:eventId/resend`, 'admin', {
    operationId: 'resendDelivery',
    summary: 'Resend an event',
    description:
      'For admins. Sends the event at once, regardless of earlier attempts, with the same `webhook-id` and a new round of retries. Also works for events of the last 30 days that were never sent to the endpoint.',
    params: DeliveryParams,
    answers: { 202: QueuedDelivery },
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
    throw notFound('No delivery of this event to this endpoint in the last 30 days; resend the event to send it now')
  return deps.keyStore.withKeyring(endpoint.workspaceId, (keyring) => {
    const headerNames = Object.keys(decryptEndpoint(keyring, endpoint).settings.headers)
    const masked = found.masked || endpoint.phoneVisibility === 'masked'
    return {
      delivery: {
        ...presentDelivery(found),
        attemptList: found.attemptList.map((attempt) => presentAttempt(keyring, key.id, found.position, attempt)),
        request: {
          headers: {
            ...headersOf({ eventId, name: event.name }),
            ...Object.fromEntries(headerNames.map((name) => [name, '…'])),
          },
          body: renderPayload(keyring, { eventId, name: event.name, payload: event.payload }, masked, deps.present),
        },
      },
    }
  })
}

function presentItem(row: DeliveryPage['rows'][number]) {
  const { at, status, ms, error } = row
  const lastAttempt =
    at === null
      ? null
      : { at: at.toISOString(), status, ms: ms ?? 0, error, explanation: explainAttempt({ status, error }) }
  return { ...presentDelivery(row), lastAttempt }
}

function presentDelivery({ eventId, event, subjectId, occurredAt, state, attempts, dueAt }: LoggedDelivery) {
  const nextAttemptAt = state === 'pending' ? (dueAt?.toISOString() ?? null) : null
  return { eventId, event, subjectId, occurredAt: occurredAt.toISOString(), state, attempts, nextAttemptAt }
}

/** Parses `500`, `5xx` or `none`. */
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
  invalid_address: 'The URL is invalid: change it.',
  forbidden_address: 'The host resolves to an address that is not public. The operator can allow it.',
  invalid_request: 'The request is invalid: check the custom headers.',
  dns: 'The host name could not be resolved.',
  connect: 'Could not connect: check that the receiver is running and reachable from the internet.',
  tls: 'The TLS connection failed: check the certificate of the receiver.',
  withheld: 'The service withheld the request and will retry.',
  timeout: 'The response took longer than 15 seconds: respond first, then process the event.',
  reset: 'The connection closed before the response.',
  answer: 'The response is not valid HTTP.',
  internal: 'The service could not build the payload. See the server log.',
  expired: 'The event was deleted.',
}

/** Explains an unsuccessful attempt in one sentence; returns null for success. */
export function explainAttempt({ status, error }: Pick<LoggedAttempt, 'status' | 'error'>): string | null {
  if (status === null) return errorTexts[error ?? ''] ?? 'No response.'
  if (status >= 200 && status < 300) return null
  if (status === 410) return 'Response 410 means that the endpoint is gone, so it was disabled.'
  if (status >= 300 && status < 400) return `Response ${status}: redirects are not followed, so set the final URL.`
  return `Response ${status}. Only 2xx counts as success.`
}

function presentAttempt(
  keyring: Keyring,
  endpointId: string,
  position: number,
  { at, answer, ...attempt }: LoggedAttempt,
) {
  const { number } = attempt
  return {
    ...attempt,
    at: at.toISOString(),
    explanation: explainAttempt(attempt),
    answer: answer === null ? null : decryptAnswer(keyring, { endpointId, position, number }, answer),
  }
}
