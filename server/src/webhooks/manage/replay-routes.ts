import { Type } from 'typebox'
import { timeOfId } from '../../base/id.ts'
import { unpaged } from '../../base/schema-types.ts'
import type { TeamApi } from '../../team/team-api.ts'
import { requireEndpoint } from '../endpoint/endpoint.ts'
import { type ReplayRow, selectReplays } from '../endpoint/replay.ts'
import { EndpointParams } from '../endpoint/schema.ts'
import { replayRange } from './change-endpoint.ts'
import { NewReplay, Replay, Stats, StatsQuery } from './delivery-schema.ts'
import { endpointPath, parseTime, type WebhookDeps } from './read-endpoint.ts'
import { readStats } from './stats.ts'

export function replayRoutes(api: TeamApi, deps: WebhookDeps): void {
  api.post(`${endpointPath}/replays`, 'admin', {
    operationId: 'createReplay',
    summary: 'Replay a time range',
    description:
      'For admins. Sends the matching events of the range in order, before newer ones. At most 5 replays can be open.',
    params: EndpointParams,
    body: NewReplay,
    answers: { 201: Type.Object({ replay: Replay }) },
    errors: [409],
    run: async ({ member, params, body }) => {
      const { endpointId } = params
      const { from, to, scope } = body
      const range = { from: parseTime('from', from), to: to === undefined ? null : parseTime('to', to), scope }
      const id = await replayRange(deps, member, endpointId, range)
      const key = { workspaceId: member.workspaceId, id: endpointId }
      const [row] = await selectReplays(deps.db.sql, key, id)
      if (row === undefined) throw new Error('Replay not found')
      return { replay: present(row) }
    },
  })
  api.get(`${endpointPath}/replays`, 'member', {
    operationId: 'listReplays',
    summary: 'List replays',
    description: 'The newest 100 of the last 30 days.',
    params: EndpointParams,
    answers: { 200: Type.Object({ replays: Type.Array(Replay, unpaged) }) },
    run: async ({ member: { workspaceId }, params }) => {
      const endpoint = await requireEndpoint(deps.db.sql, { workspaceId, id: params.endpointId })
      const rows = await selectReplays(deps.db.sql, endpoint, null)
      return { replays: rows.map(present) }
    },
  })
  api.get(`${endpointPath}/stats`, 'member', {
    operationId: 'getWebhookStats',
    summary: 'Read endpoint statistics',
    description: 'Deliveries, failures and durations, for charts.',
    params: EndpointParams,
    query: StatsQuery,
    answers: { 200: Stats },
    run: async ({ member: { workspaceId }, params, query }) => {
      const endpoint = await requireEndpoint(deps.db.sql, { workspaceId, id: params.endpointId })
      const stats = await readStats(deps.db.sql, endpoint, query.hours, deps.clock.now())
      const buckets = stats.buckets.map(({ start, delivered, failedAttempts, ...measured }) => ({
        start: start.toISOString(),
        delivered,
        failedAttempts,
        msP50: whole(measured.msP50),
        msP95: whole(measured.msP95),
        delayMsP50: whole(measured.delayMsP50),
        delayMsP95: whole(measured.delayMsP95),
      }))
      return { ...stats, buckets }
    },
  })
}

const whole = (value: number | null) => (value === null ? null : Math.round(value))

function present({ id, from, to, scope, reached, queued, createdAt, finishedAt }: ReplayRow) {
  return {
    id,
    from: from.toISOString(),
    to: to.toISOString(),
    scope,
    queued,
    reachedAt: reached === null ? null : timeOfId(reached).toISOString(),
    createdAt: createdAt.toISOString(),
    finishedAt: finishedAt?.toISOString() ?? null,
  }
}
