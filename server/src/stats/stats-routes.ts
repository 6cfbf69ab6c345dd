import { type Static, Type } from 'typebox'
import { listNamedKeys } from '../auth/members/people.ts'
import type { Clock } from '../base/clock.ts'
import type { Db, Sql } from '../base/db.ts'
import { invalid } from '../base/errors.ts'
import { timestampArray } from '../base/postgres/values.ts'
import { type App, nullable, oneOf, timestamp, titled } from '../base/route.ts'
import { count, day, leadStatus, text, unpaged } from '../base/schema-types.ts'
import { isTimeZone, lastDays, type ZoneDay } from '../base/time.ts'
import { type Answerer, type AnswerTimes, readAnswerTimes } from '../inbox/read/answer-times.ts'
import { countUnanswered, type UnansweredCount } from '../inbox/read/count-views.ts'
import { type Source, sources } from '../leads/lead/lead.ts'
import { readQuota } from '../leads/lead/quota.ts'
import type { TeamGuard } from '../team/member.ts'
import { teamApi } from '../team/team-api.ts'
import { closed, idSchema } from '../team/team-schema.ts'
import { findWorkspace } from '../workspaces/workspace.ts'
import type { ConnectionInfo, WebhookInfo, WorkspaceState } from './attention.ts'
import { attentionCodes, listAttention } from './attention.ts'

const StatsQuery = Type.Object(
  {
    days: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 366, description: 'Number of days up to today. Default 30.' }),
    ),
    tz: Type.Optional(
      Type.String({
        maxLength: 64,
        description: 'IANA name of the time zone of the days. Default `UTC`.',
        example: 'America/Sao_Paulo',
      }),
    ),
    waitingMinutes: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 10_080,
        description: 'Minutes without an answer after which a customer counts as waiting. Default 15.',
      }),
    ),
  },
  closed,
)

const seconds = (description: string) => Type.Number({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description })

const FirstAnswers = nullable(
  Type.Object(
    {
      answers: count('Number of first answers; extrapolated if a sample was read.'),
      medianSeconds: seconds('Median waiting time in seconds.'),
      p90Seconds: seconds('90th percentile of the waiting time in seconds.'),
    },
    { title: 'AnswerTimes', description: 'Null if there were no answers.' },
  ),
)

const Answerers = {
  people: FirstAnswers,
  agents: FirstAnswers,
  otherApps: FirstAnswers,
}

const ofAnswerers =
  '`people` are members and team tokens, `agents` API keys, `otherApps` other apps on the same number.'
const ByAnswerer = Type.Object(Answerers, { title: 'AnswersByKind', description: ofAnswerers })

const Span = titled('StatsPeriod', {
  leads: count('Leads created in the period and not deleted since.'),
  answers: ByAnswerer,
})

const { waitingMinutes: _, ...spanQuery } = StatsQuery.properties
const ComparisonQuery = Type.Object(spanQuery, closed)

const Comparison = Type.Object({
  from: timestamp('Start of the period.'),
  beforeFrom: timestamp('Start of the previous period of the same length.'),
  now: Span,
  before: Span,
  sampledEvery: count('1 if every conversation was read, n if one in n was.'),
})

const Stats = Type.Object({
  from: timestamp('Start of the first day.'),
  days: Type.Array(
    Type.Object({
      date: day,
      leads: count('Leads created on the day and not deleted since.'),
      answers: ByAnswerer,
    }),
    { maxItems: 366, description: 'Every day, oldest first; the last is today.' },
  ),
  leads: Type.Object({
    total: count('All current leads.'),
    created: count('Leads created in these days.'),
    bySource: Type.Array(
      Type.Object({ source: oneOf(sources, { title: 'LeadSource' }), count: count('Leads created in these days.') }),
      {
        maxItems: sources.length,
        description: 'Most common first.',
      },
    ),
    byStatus: Type.Array(
      Type.Object({
        status: leadStatus('Status of the leads.', { example: 'new' }),
        count: count('Current leads with this status.'),
      }),
      {
        ...unpaged,
        description: 'All leads by status, most common first.',
      },
    ),
  }),
  answers: Type.Object(
    {
      ...Answerers,
      sampledEvery: count('1 if every conversation was read, n if one in n was.'),
    },
    {
      description: `Waiting times of customers until the first answer to their messages. ${ofAnswerers}`,
    },
  ),
  waiting: Type.Object({
    minutes: count('Minutes after which a customer counts as waiting.'),
    forPeople: count('Customers waiting for people.'),
    forAgents: count('Customers waiting for agents.'),
    since: nullable(timestamp('Since when the first of them has been waiting; null if there are none.')),
  }),
  quota: Type.Object({
    used: count('Leads created this UTC day that count towards the quota.'),
    limit: nullable(count('Daily quota; null: unlimited.')),
  }),
  attention: Type.Array(
    Type.Object({
      code: oneOf(attentionCodes, { description: 'What needs attention.' }),
      id: nullable(idSchema('The connection, webhook or key.')),
      name: nullable(text(200, 'Name of the connection or key; description of a webhook.')),
      at: nullable(timestamp('Since when the condition holds, or when it will occur.')),
      count: nullable(count('Number of customers, leads or failures.')),
      reason: nullable(
        text(200, 'State reason of the connection or webhook; `same_call` or `same_text` for a paused key.'),
      ),
    }),
    { ...unpaged, description: 'What needs attention now, worst first.' },
  ),
})
type Stats = Static<typeof Stats>

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
        attention: listAttention(state, now).map((one) => ({ ...one, at: one.at?.toISOString() ?? null })),
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

interface NewLeads {
  /** Index of the day, from 1. */
  day: number
  source: Source
  count: number
}

/** Counts live leads by day of creation and source. `starts` are the starts of consecutive days up to the present. */
async function countNewLeads(sql: Sql, workspaceId: string, starts: readonly Date[]): Promise<NewLeads[]> {
  return sql<NewLeads[]>`
    select width_bucket(l.created_at, ${timestampArray(starts)}::timestamptz[]) as day,
      l.source,
      count(*)::integer as count
    from leads l
    where l.workspace_id = ${workspaceId}
      and l.deleted_at is null
      and l.created_at >= ${starts[0] ?? null}::timestamptz
    group by 1, 2`
}

/** Counts live leads by status, the most common first. */
async function countByStatus(sql: Sql, workspaceId: string): Promise<{ status: string; count: number }[]> {
  return sql<{ status: string; count: number }[]>`
    select l.status, count(*)::integer as count
    from leads l
    where l.workspace_id = ${workspaceId}
      and l.deleted_at is null
    group by l.status
    order by count desc, l.status`
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

function presentLeads(created: readonly NewLeads[], byStatus: readonly { status: string; count: number }[]) {
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

const sum = (rows: readonly { count: number }[]): number => rows.reduce((total, { count }) => total + count, 0)
