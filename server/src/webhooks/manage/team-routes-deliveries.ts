import { decodeCursor, encodeCursor } from '../../base/cursor.ts'
import { badRequest } from '../../base/errors.ts'
import { type App, errors } from '../../base/route.ts'
import { version } from '../../base/version.ts'
import { memberOf, type TeamGuard } from '../../team/member.ts'
import { requestBody } from '../deliver/bodies.ts'
import { openEndpoint, selectEndpoint } from '../endpoint/endpoint.ts'
import { deliveryNotFound, endpointNotFound, eventNotFound } from '../endpoint/errors.ts'
import { EndpointParams } from '../endpoint/schema.ts'
import { type AnswerFilter, findDelivery, type LoggedDelivery, listAttempts, listDeliveries } from './deliveries.ts'
import {
  DeliveriesQuery,
  DeliveryDetail,
  DeliveryList,
  DeliveryParams,
  Queued,
  TestRequest,
} from './delivery-schema.ts'
import type { WebhookDeps } from './deps.ts'
import { explain, presentAttempt } from './present-attempt.ts'
import { findEvent, resendEvent } from './send-again.ts'
import { sendTest } from './send-test.ts'
import { endpointPath, readTime, webhookRoute, workspaceOfEndpoint } from './team-request.ts'

export function deliveryTeamRoutes(app: App, deps: WebhookDeps, guard: TeamGuard): void {
  testRoute(app, deps, guard)
  listRoute(app, deps, guard)
  readRoute(app, deps, guard)
  resendRoute(app, deps, guard)
}

function testRoute(app: App, deps: WebhookDeps, guard: TeamGuard): void {
  app.route({
    method: 'POST',
    url: `${endpointPath}/test`,
    onRequest: guard.member('admin'),
    schema: {
      ...webhookRoute,
      operationId: 'testWebhook',
      summary: 'Send a test event',
      description:
        'For admins. An invented event, signed and shown as a true one, for this endpoint alone. It overtakes what waits, and is tried once.',
      params: EndpointParams,
      body: TestRequest,
      response: { 202: Queued, ...errors(400, 401, 403, 404, 409, 413, 415) },
    },
    handler: async (request, reply) => {
      const { endpointId } = request.params
      const eventId = await sendTest(deps, memberOf(request), endpointId, request.body.event)
      return reply.code(202).send({ delivery: { endpointId, eventId } })
    },
  })
}

function listRoute(app: App, deps: WebhookDeps, guard: TeamGuard): void {
  app.route({
    method: 'GET',
    url: `${endpointPath}/deliveries`,
    onRequest: guard.member('member'),
    schema: {
      ...webhookRoute,
      operationId: 'listDeliveries',
      summary: 'List deliveries',
      description:
        'What became of each event of the last 30 days, the newest first. Events still to be read are not among them.',
      params: EndpointParams,
      querystring: DeliveriesQuery,
      response: { 200: DeliveryList, ...errors(400, 401, 403, 404) },
    },
    handler: async (request) => {
      const { endpointId } = request.params
      const { state = null, event = null, about = null, answer, from, to, limit, cursor } = request.query
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
}

function readRoute(app: App, deps: WebhookDeps, guard: TeamGuard): void {
  app.route({
    method: 'GET',
    url: `${endpointPath}/deliveries/:eventId`,
    onRequest: guard.member('admin'),
    schema: {
      ...webhookRoute,
      operationId: 'getDelivery',
      summary: 'Read a delivery',
      description: 'For admins: every attempt with the beginning of its answer, and the request as it is sent.',
      params: DeliveryParams,
      response: { 200: DeliveryDetail, ...errors(400, 401, 403, 404) },
    },
    handler: async (request) => {
      const { workspaceId } = memberOf(request)
      return readDelivery(deps, workspaceId, request.params.endpointId, request.params.eventId)
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

function resendRoute(app: App, deps: WebhookDeps, guard: TeamGuard): void {
  app.route({
    method: 'POST',
    url: `${endpointPath}/deliveries/:eventId/resend`,
    onRequest: guard.member('admin'),
    schema: {
      ...webhookRoute,
      operationId: 'resendDelivery',
      summary: 'Send an event again',
      description:
        'For admins. Sent at once whatever became of it before, with the same `webhook-id`, and by a new round of the schedule if it fails. Also for an event of the last 30 days that the endpoint was never sent.',
      params: DeliveryParams,
      response: { 202: Queued, ...errors(400, 401, 403, 404, 409) },
    },
    handler: async (request, reply) => {
      const { endpointId, eventId } = request.params
      await resendEvent(deps, memberOf(request), endpointId, eventId)
      return reply.code(202).send({ delivery: { endpointId, eventId } })
    },
  })
}

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
