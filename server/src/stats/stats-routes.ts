import { listNamedKeys } from '../auth/members/people.ts'
import type { Clock } from '../base/clock.ts'
import type { Db, Sql } from '../base/db.ts'
import { invalid } from '../base/errors.ts'
import type { App } from '../base/route.ts'
import type { ZoneDay } from '../base/time.ts'
import { isTimeZone, lastDays } from '../base/time.ts'
import { type Answerer, type AnswerTimes, readAnswerTimes } from '../inbox/read/answer-times.ts'
import type { UnansweredCount } from '../inbox/read/count-views.ts'
import { countUnanswered } from '../inbox/read/count-views.ts'
import { readQuota } from '../leads/lead/quota.ts'
import { countByStatus, countNewLeads, type NewLeads } from '../leads/search/stats.ts'
import type { TeamGuard } from '../team/member.ts'
import { teamApi } from '../team/team-api.ts'
import { findWorkspace } from '../workspaces/workspace.ts'
import {
  type Attention,
  type ConnectionInfo,
  listAttention,
  type WebhookInfo,
  type WorkspaceState,
} from './attention.ts'
import { Comparison, ComparisonQuery, Stats, StatsQuery } from './schema.ts'

interface StatsDeps {
  db: Db
  clock: Clock
}

/** Adds the routes of the home page: figures of the last days, a comparison with before, and what needs attention. */
export function statsTeamRoutes(app: App, deps: StatsDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Statistics')
  const { db, clock } = deps
  api.get('/api/team/v1/workspaces/:workspaceId/stats', 'member', {
    operationId: 'getStats',
    summary: 'Get statistics',
    description:
      'Counts of leads are exact. Answer times cover stored messages; with more than 2,000 active conversations a sample is read.',
    query: StatsQuery,
    answers: { 200: Stats },
    run: async ({ member, query }) => {
      const { workspaceId } = member
      const { days: count = 30, tz = 'UTC', waitingMinutes = 15 } = query
      if (!isTimeZone(tz)) throw invalid('tz', 'must be the IANA name of a time zone', 'query')
      const now = clock.now()
      const days = lastDays(tz, count, now)
      const starts = days.map(({ start }) => start)
      const waitingBefore = new Date(now.getTime() - waitingMinutes * 60_000)
      const [created, byStatus, { sampledEvery, times }, state] = await Promise.all([
        countNewLeads(db.sql, workspaceId, starts),
        countByStatus(db.sql, workspaceId),
        readAnswerTimes(db.sql, workspaceId, starts),
        readState(db.sql, workspaceId, { waitingBefore, now }),
      ])
      const { used, limit } = state.quota
      return {
        from: (starts[0] ?? now).toISOString(),
        days: presentDays(days, created, times),
        leads: presentLeads(created, byStatus),
        answers: { ...presentAnswers(times, null), sampledEvery },
        waiting: presentWaiting(state.waiting, waitingMinutes),
        quota: { used, limit: limit === 0 ? null : limit },
        attention: listAttention(state, now).map(presentAttention),
      }
    },
  })
  api.get('/api/team/v1/workspaces/:workspaceId/stats/comparison', 'member', {
    operationId: 'compareStats',
    summary: 'Compare statistics with the previous period',
    description:
      'Compares the days up to now with as many days before: new leads, and first answers. With more than 2,000 active conversations a sample is read; the numbers of each person, agent, connection and label are in the reports.',
    query: ComparisonQuery,
    answers: { 200: Comparison },
    run: async ({ member, query }) => {
      const { workspaceId } = member
      const { days: count = 30, tz = 'UTC' } = query
      if (!isTimeZone(tz)) throw invalid('tz', 'must be the IANA name of a time zone', 'query')
      const now = clock.now()
      const days = lastDays(tz, 2 * count, now)
      const from = days[0]?.start ?? now
      const start = days[count]?.start ?? now
      const [created, { sampledEvery, times }] = await Promise.all([
        countNewLeads(db.sql, workspaceId, [from, start]),
        readAnswerTimes(db.sql, workspaceId, [from, start]),
      ])
      const span = (day: number) => ({
        leads: sum(created.filter((one) => one.day === day)),
        answers: presentAnswers(times, day),
      })
      return { from: start.toISOString(), beforeFrom: from.toISOString(), now: span(2), before: span(1), sampledEvery }
    },
  })
}

/** Reads the state of a workspace. Does not decrypt anything. */
async function readState(
  sql: Sql,
  workspaceId: string,
  { waitingBefore, now }: { waitingBefore: Date; now: Date },
): Promise<WorkspaceState> {
  const [workspace, quota, waiting, connections, webhooks, keys] = await Promise.all([
    findWorkspace(sql, workspaceId),
    readQuota(sql, workspaceId, now),
    countUnanswered(sql, workspaceId, waitingBefore),
    selectConnections(sql, workspaceId),
    selectWebhooks(sql, workspaceId),
    listNamedKeys(sql, workspaceId),
  ])
  return { agentsStopped: workspace?.agentsStopped ?? false, quota, waiting, connections, webhooks, keys }
}

async function selectConnections(sql: Sql, workspaceId: string): Promise<ConnectionInfo[]> {
  return sql<ConnectionInfo[]>`
    select id, name, channel, state, state_reason as "stateReason", state_changed_at as "stateChangedAt",
      acknowledged_at as "acknowledgedAt", coalesce(last_event_in_at, last_event_out_at) as "lastEventAt"
    from connections
    where workspace_id = ${workspaceId}
      and removed_at is null`
}

async function selectWebhooks(sql: Sql, workspaceId: string): Promise<WebhookInfo[]> {
  return sql<WebhookInfo[]>`
    select w.id, w.description, w.state, w.state_reason as "stateReason", w.state_changed_at as "stateChangedAt",
      q.failing_since as "failingSince", coalesce(q.failures_in_a_row, 0) as "failuresInARow"
    from webhook_endpoints w
    left join webhook_queues q on q.workspace_id = w.workspace_id and q.endpoint_id = w.id
    where w.workspace_id = ${workspaceId}
      and w.removed_at is null`
}

function presentDays(days: readonly ZoneDay[], created: readonly NewLeads[], times: readonly AnswerTimes[]) {
  return days.map(({ date }, n) => ({
    date,
    leads: sum(created.filter(({ day }) => day === n + 1)),
    answers: presentAnswers(times, n + 1),
  }))
}

function presentAnswers(times: readonly AnswerTimes[], day: number | null) {
  const by = (answerer: Answerer) => {
    const found = times.find((one) => one.answerer === answerer && one.day === day)
    if (found === undefined) return null
    const { answers, medianSeconds, p90Seconds } = found
    return { answers, medianSeconds, p90Seconds }
  }
  return { people: by('people'), agents: by('agents'), otherApps: by('otherApps') }
}

function presentLeads(
  created: readonly NewLeads[],
  byStatus: readonly { status: string; count: number }[],
): Stats['leads'] {
  const bySource = [...Map.groupBy(created, ({ source }) => source)]
    .map(([source, rows]) => ({ source, count: sum(rows) }))
    .sort((a, b) => b.count - a.count || (a.source < b.source ? -1 : 1))
  return { total: sum(byStatus), created: sum(created), bySource, byStatus: [...byStatus] }
}

function presentWaiting(waiting: readonly UnansweredCount[], minutes: number): Stats['waiting'] {
  const first = waiting.map(({ since }) => since.getTime())
  return {
    minutes,
    forPeople: sum(waiting.filter(({ ownedByAgent }) => !ownedByAgent)),
    forAgents: sum(waiting.filter(({ ownedByAgent }) => ownedByAgent)),
    since: first.length === 0 ? null : new Date(Math.min(...first)).toISOString(),
  }
}

function presentAttention(one: Attention): Stats['attention'][number] {
  return { ...one, at: one.at?.toISOString() ?? null }
}

const sum = (rows: readonly { count: number }[]): number => rows.reduce((total, { count }) => total + count, 0)
