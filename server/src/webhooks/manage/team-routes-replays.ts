import { Type } from 'typebox'
import { timeOfId } from '../../base/id.ts'
import { type App, errors } from '../../base/route.ts'
import { unpaged } from '../../base/schema-types.ts'
import { memberOf, type TeamGuard } from '../../team/member.ts'
import { type ReplayRow, selectReplays } from '../endpoint/replay.ts'
import { EndpointParams } from '../endpoint/schema.ts'
import { NewReplay, Replay, Stats, StatsQuery } from './delivery-schema.ts'
import type { WebhookDeps } from './deps.ts'
import { replayRange } from './send-again.ts'
import { readStats } from './stats.ts'
import { endpointPath, readTime, webhookRoute, workspaceOfEndpoint } from './team-request.ts'

export function replayTeamRoutes(app: App, deps: WebhookDeps, guard: TeamGuard): void {
  createRoute(app, deps, guard)
  listRoute(app, deps, guard)
  statsRoute(app, deps, guard)
}

function createRoute(app: App, deps: WebhookDeps, guard: TeamGuard): void {
  app.route({
    method: 'POST',
    url: `${endpointPath}/replays`,
    onRequest: guard.member('admin'),
    schema: {
      ...webhookRoute,
      operationId: 'createReplay',
      summary: 'Replay the events of a range of time',
      description:
        'For admins. Events of the range that the endpoint asks for are sent in order, before anything newer. At most 5 replays are open at a time.',
      params: EndpointParams,
      body: NewReplay,
      response: { 201: Type.Object({ replay: Replay }), ...errors(400, 401, 403, 404, 409, 413, 415) },
    },
    handler: async (request, reply) => {
      const member = memberOf(request)
      const { endpointId } = request.params
      const { from, to, scope } = request.body
      const range = { from: readTime('from', from), to: to === undefined ? null : readTime('to', to), scope }
      const id = await replayRange(deps, member, endpointId, range)
      const [row] = await selectReplays(deps.db.sql, member.workspaceId, endpointId, id)
      if (row === undefined) throw new Error('The replay is gone')
      return reply.code(201).send({ replay: present(row) })
    },
  })
}

function listRoute(app: App, deps: WebhookDeps, guard: TeamGuard): void {
  app.route({
    method: 'GET',
    url: `${endpointPath}/replays`,
    onRequest: guard.member('member'),
    schema: {
      ...webhookRoute,
      operationId: 'listReplays',
      summary: 'List replays',
      description: 'The newest 100 of the last 30 days.',
      params: EndpointParams,
      response: { 200: Type.Object({ replays: Type.Array(Replay, unpaged) }), ...errors(400, 401, 403, 404) },
    },
    handler: async (request) => {
      const { endpointId } = request.params
      const workspaceId = await workspaceOfEndpoint(deps, request, endpointId)
      const rows = await selectReplays(deps.db.sql, workspaceId, endpointId, null)
      return { replays: rows.map(present) }
    },
  })
}

function statsRoute(app: App, deps: WebhookDeps, guard: TeamGuard): void {
  app.route({
    method: 'GET',
    url: `${endpointPath}/stats`,
    onRequest: guard.member('member'),
    schema: {
      ...webhookRoute,
      operationId: 'getWebhookStats',
      summary: 'Read how an endpoint fared',
      description: 'For charts: deliveries, failures, and how long they took.',
      params: EndpointParams,
      querystring: StatsQuery,
      response: { 200: Stats, ...errors(400, 401, 403, 404) },
    },
    handler: async (request) => {
      const { endpointId } = request.params
      const workspaceId = await workspaceOfEndpoint(deps, request, endpointId)
      const stats = await readStats(deps.db.sql, workspaceId, endpointId, request.query.hours, deps.clock.now())
      return {
        ...stats,
        buckets: stats.buckets.map((bucket) => ({
          start: bucket.start.toISOString(),
          delivered: bucket.delivered,
          failedAttempts: bucket.failedAttempts,
          msP50: whole(bucket.msP50),
          msP95: whole(bucket.msP95),
          delayMsP50: whole(bucket.delayMsP50),
          delayMsP95: whole(bucket.delayMsP95),
        })),
      }
    },
  })
}

const whole = (value: number | null) => (value === null ? null : Math.round(value))

function present(row: ReplayRow) {
  return {
    id: row.id,
    from: row.from_at.toISOString(),
    to: row.to_at.toISOString(),
    scope: row.scope,
    queued: row.queued,
    reachedAt: row.reached === null ? null : timeOfId(row.reached).toISOString(),
    createdAt: row.created_at.toISOString(),
    finishedAt: row.finished_at?.toISOString() ?? null,
  }
}
