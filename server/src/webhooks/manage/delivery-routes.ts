import { decodeCursor, encodeCursor } from '../../base/cursor.ts'
import { badRequest } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import { version } from '../../base/version.ts'
import { recordTestEvent } from '../../events/record.ts'
import type { Member } from '../../team/member.ts'
import type { TeamApi } from '../../team/team-api.ts'
import { openAnswer, requestBody } from '../deliver/delivery.ts'
import {
  deliveryNotFound,
  endpointDisabled,
  endpointNotFound,
  eventNotFound,
  lockEndpoint,
  openEndpoint,
  selectEndpoint,
} from '../endpoint/endpoint.ts'
import { queueOnce } from '../endpoint/replay.ts'
import { EndpointParams } from '../endpoint/schema.ts'
import { eventCatalogue, type KnownEvent } from '../event-catalogue.ts'
import { findEvent, noteChange, resendEvent } from './change.ts'
import {
  type AnswerFilter,
  findDelivery,
  type LoggedAttempt,
  type LoggedDelivery,
  listAttempts,
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
import { endpointPath, readTime, type WebhookDeps, workspaceOfEndpoint } from './read-endpoint.ts'

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
    run: async ({ member, params, body }) => {
      const { endpointId } = params
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
    run: async ({ params, query, request }) => {
      const { endpointId } = params
      const { state = null, event = null, about = null, answer, from, to, limit, cursor } = query
      const workspaceId = await workspaceOfEndpoint(deps, request, endpointId)
      const filter = {
        state,
        event,
        about,
        answer: answer === undefined ? null : readAnswer(answer),
        from: from === undefined ? null : readTime('from', from, 'query'),
        to: to === undefined ? null : readTime('to', to, 'query'),
      }
      const before = cursor === undefined ? null : readCursor(cursor, endpointId)
      const page = await listDeliveries(deps.db.sql, workspaceId, endpointId, filter, { before, limit })
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
    run: async ({ member, params }) => {
      const { workspaceId } = member
      return readDelivery(deps, workspaceId, params.endpointId, params.eventId)
    },
  })
  api.post(`${endpointPath}/deliveries/:eventId/resend`, 'admin', {
    operationId: 'resendDelivery',
    summary: 'Send an event again',
    description:
      'For admins. Sent at once whatever became of it before, with the same `webhook-id`, and by a new round of the schedule if it fails. Also for an event of the last 30 days that the endpoint was never sent.',
    params: DeliveryParams,
    answers: { 202: Queued },
    errors: [409],
    run: async ({ member, params }) => {
      const { endpointId, eventId } = params
      await resendEvent(deps, member, endpointId, eventId)
      return { delivery: { endpointId, eventId } }
    },
  })
}

async function readDelivery(deps: WebhookDeps, workspaceId: string, endpointId: string, eventId: string) {
  const { sql } = deps.db
  const row = await selectEndpoint(sql, workspaceId, endpointId)
  if (row === undefined) throw endpointNotFound()
  const event = await findEvent(sql, workspaceId, endpointId, eventId)
  if (event === undefined) throw eventNotFound()
  const found = await findDelivery(sql, workspaceId, endpointId, event.position)
  if (found === undefined) throw deliveryNotFound()
  const attempts = await listAttempts(sql, workspaceId, endpointId, found.position)
  return deps.vault.withKeyring(workspaceId, (keyring) => {
    const own = Object.keys(openEndpoint(keyring, row).settings.headers)
    const masked = found.masked || row.phone_visibility === 'masked'
    const all = found.delivered === null ? attempts : [...attempts, found.delivered]
    return {
      delivery: {
        ...presentDelivery(found),
        attemptList: all.map((attempt) => presentAttempt(keyring, endpointId, found.position, attempt)),
        request: {
          headers: { ...headersOf(eventId, event.name), ...Object.fromEntries(own.map((name) => [name, '…'])) },
          body: requestBody(keyring, { eventId, name: event.name, payload: event.payload }, masked, deps.present),
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

function presentItem(row: LoggedDelivery) {
  const { at, status, ms, error } = row
  const lastAttempt =
    at === null ? null : { at: at.toISOString(), status, ms: ms ?? 0, error, explanation: explain({ status, error }) }
  return { ...presentDelivery(row), lastAttempt }
}

function presentDelivery(row: Omit<LoggedDelivery, 'at' | 'status' | 'ms' | 'error'>) {
  return {
    eventId: row.event_id,
    event: row.event_name,
    subjectId: row.subject_id,
    occurredAt: row.occurred_at.toISOString(),
    state: row.state,
    attempts: row.attempts,
    nextAttemptAt: row.state === 'pending' ? (row.due_at?.toISOString() ?? null) : null,
  }
}

/** `500`, `5xx` or `none`. */
function readAnswer(answer: string): AnswerFilter {
  if (answer === 'none') return 'none'
  return { from: Number(answer.replace('xx', '00')), to: Number(answer.replace('xx', '99')) }
}

function readCursor(text: string, endpointId: string): number {
  const [endpoint, position, extra] = decodeCursor(text) ?? []
  if (endpoint !== endpointId || !Number.isSafeInteger(position) || extra !== undefined) {
    throw badRequest('Invalid cursor format')
  }
  return position as number
}

const sentences: Record<string, string> = {
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
  if (status === null) return sentences[error ?? ''] ?? 'No answer came.'
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
    answer: answer === null ? null : openAnswer(keyring, { endpointId, position, number }, answer),
  }
}

/**
 * Sends an endpoint an invented event, signed and shown as a true one, and returns its id. It does not wait behind the
 * endpoint's backlog, and nobody else sees it.
 */
async function sendTest(deps: WebhookDeps, member: Member, id: string, name: KnownEvent): Promise<string> {
  const { workspaceId } = member
  const now = deps.clock.now()
  const keyring = await deps.vault.keyring(workspaceId)
  const event = eventCatalogue[name].sample(newId(now), now)
  const eventId = await deps.db.tx(async (tx) => {
    if ((await lockEndpoint(tx, workspaceId, id)).state === 'disabled') throw endpointDisabled()
    return recordTestEvent(tx, keyring, workspaceId, id, event, now)
  })
  // Places are given to what is committed.
  await deps.sequencer.place(workspaceId)
  await deps.db.tx(async (tx) => {
    const endpoint = await lockEndpoint(tx, workspaceId, id)
    const placed = await findEvent(tx, workspaceId, id, eventId)
    if (placed === undefined) throw eventNotFound()
    await queueOnce(tx, { workspaceId, id, phoneVisibility: endpoint.phone_visibility }, placed, now)
    await noteChange(tx, member, 'webhook.tested', id, now)
  })
  return eventId
}
