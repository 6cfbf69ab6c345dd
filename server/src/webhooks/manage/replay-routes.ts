import { Type } from 'typebox'
import { timeOfId } from '../../base/id.ts'
import { unpaged } from '../../base/schema-types.ts'
import type { TeamApi } from '../../team/team-api.ts'
import { type ReplayRow, selectReplays } from '../endpoint/replay.ts'
import { EndpointParams } from '../endpoint/schema.ts'
import { replayRange } from './change.ts'
import { NewReplay, Replay, Stats, StatsQuery } from './delivery-schema.ts'
import { endpointPath, readTime, type WebhookDeps, workspaceOfEndpoint } from './read-endpoint.ts'
import { readStats } from './stats.ts'

export function replayRoutes(api: TeamApi, deps: WebhookDeps): void {
  api.post(`${endpointPath}/replays`, 'admin', {
    operationId: 'createReplay',
    summary: 'Replay the events of a range of time',
    description:
      'For admins. Events of the range that the endpoint asks for are sent in order, before anything newer. At most 5 replays are open at a time.',
    params: EndpointParams,
    body: NewReplay,
    answers: { 201: Type.Object({ replay: Replay }) },
    errors: [409],
    run: async ({ member, params, body }) => {
      const { endpointId } = params
      const { from, to, scope } = body
      const range = { from: readTime('from', from), to: to === undefined ? null : readTime('to', to), scope }
      const id = await replayRange(deps, member, endpointId, range)
      const [row] = await selectReplays(deps.db.sql, member.workspaceId, endpointId, id)
      if (row === undefined) throw new Error('The replay is gone')
      return { replay: present(row) }
    },
  })
  api.get(`${endpointPath}/replays`, 'member', {
    operationId: 'listReplays',
    summary: 'List replays',
    description: 'The newest 100 of the last 30 days.',
    params: EndpointParams,
    answers: { 200: Type.Object({ replays: Type.Array(Replay, unpaged) }) },
    run: async ({ params, request }) => {
      const { endpointId } = params
      const workspaceId = await workspaceOfEndpoint(deps, request, endpointId)
      const rows = await selectReplays(deps.db.sql, workspaceId, endpointId, null)
      return { replays: rows.map(present) }
    },
  })
  api.get(`${endpointPath}/stats`, 'member', {
    operationId: 'getWebhookStats',
    summary: 'Read how an endpoint fared',
    description: 'For charts: deliveries, failures, and how long they took.',
    params: EndpointParams,
    query: StatsQuery,
    answers: { 200: Stats },
    run: async ({ params, query, request }) => {
      const { endpointId } = params
      const workspaceId = await workspaceOfEndpoint(deps, request, endpointId)
      const stats = await readStats(deps.db.sql, workspaceId, endpointId, query.hours, deps.clock.now())
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
