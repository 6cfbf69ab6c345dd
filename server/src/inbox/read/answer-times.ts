import type { Fragment, Sql } from '../../base/db.ts'
import { timestampArray } from '../../base/postgres/values.ts'
import { currentColumns, touchedIds } from '../conversation/activity-columns.ts'

/** Who answered: members and team tokens, API keys, or another app on the same number. */
export type Answerer = 'people' | 'agents' | 'otherApps'

export interface AnswerTimes {
  answerer: Answerer
  /** Number of the day, from 1; null for all days. */
  day: number | null
  answers: number
  medianSeconds: number
  p90Seconds: number
}

const maxConversations = 2000
const maxMessagesEach = 1000

/**
 * Returns how long customers waited for the first answer, by answerer and day. The cost is bounded: from many
 * conversations it reads a sample chosen by id, and from each the newest messages.
 */
export async function readAnswerTimes(
  sql: Sql,
  workspaceId: string,
  starts: readonly Date[],
): Promise<{ sampledEvery: number; times: AnswerTimes[] }> {
  const from = starts[0] ?? null
  const sampledEvery = await sampleRate(sql, workspaceId, from)
  const times = await sql<AnswerTimes[]>`
    with ${firstAnswersSince(sql, workspaceId, from, sampledEvery)},
    dated as (
      select a.answerer, a.seconds,
        width_bucket(a.occurred_at, ${timestampArray(starts)}::timestamptz[]) as day
      from answers a
      where a.answerer is not null
    )
    select d.answerer,
      d.day,
      (count(*) * ${sampledEvery})::integer as answers,
      percentile_cont(0.5) within group (order by d.seconds) as "medianSeconds",
      percentile_cont(0.9) within group (order by d.seconds) as "p90Seconds"
    from dated d
    group by grouping sets ((d.answerer), (d.answerer, d.day))`
  return { sampledEvery, times }
}

/**
 * SQL: condition on `conversations c` that changed since `from`. Touched ones changed in the last minute and use an
 * index of their own.
 */
const isActive = (sql: Sql, workspaceId: string, from: Date | null): Fragment => sql`
  c.workspace_id = ${workspaceId}
    and (c.updated_at >= ${from}::timestamptz or c.id = any (array(${touchedIds(sql, workspaceId)})))
    and ${currentColumns.updatedAt(sql)} >= ${from}::timestamptz`

/** Returns N, where one of N conversations active since then is read. */
async function sampleRate(sql: Sql, workspaceId: string, from: Date | null): Promise<number> {
  const [active] = await sql<{ count: number }[]>`
    select count(*)::integer as count
    from conversations c
    where ${isActive(sql, workspaceId, from)}`
  return Math.max(1, Math.ceil((active?.count ?? 0) / maxConversations))
}

/** SQL: the first answers of the sample, as `answers`. */
const firstAnswersSince = (sql: Sql, workspaceId: string, from: Date | null, sampledEvery: number): Fragment => sql`
    sampled as materialized (
      select c.id
      from conversations c
      where ${isActive(sql, workspaceId, from)}
        and mod(hashtext(c.id::text)::bigint, ${sampledEvery}::bigint) = 0
    ),
    ${firstAnswers(sql, workspaceId, sql`and m.occurred_at >= ${from}::timestamptz`, maxMessagesEach)}`

/**
 * SQL, after `sampled` with the ids of conversations: `said`, their messages, and `answers`, the
 * first answers to them. The only definition of a first answer: the home page and reports share it.
 */
export const firstAnswers = (sql: Sql, workspaceId: string, condition: Fragment, maxMessages: number): Fragment => sql`
    said as (
      select s.id as conversation_id, m.id, m.direction, m.origin, m.actor_type, m.actor_id,
        m.occurred_at,
        lag(m.direction) over (partition by s.id order by m.occurred_at) as before
      from sampled s
      cross join lateral (
        select m.id, m.direction, m.origin, m.actor_type, m.actor_id, m.occurred_at
        from messages m
        where m.workspace_id = ${workspaceId}
          and m.conversation_id = s.id
          ${condition}
          and m.origin <> 'history'
          and m.kind <> 'system'
          -- What the service sends by itself, such as an away message, is no answer.
          and m.actor_type is distinct from 'system'
          and m.status <> 'failed'
        order by m.occurred_at desc
        limit ${maxMessages}
      ) as m
    ),
    turns as (
      select t.*,
        lag(t.occurred_at) over (partition by t.conversation_id order by t.occurred_at) as asked_at
      from said t
      where t.before is distinct from t.direction
    ),
    answers as (
      select
        case
          when t.origin = 'echo' then 'otherApps'
          when t.actor_type = 'agent' then 'agents'
          when t.actor_type in ('user', 'token') then 'people'
        end as answerer,
        t.id, t.conversation_id, t.actor_id, t.occurred_at,
        extract(epoch from t.occurred_at - t.asked_at)::double precision as seconds
      from turns t
      where t.direction = 'outbound'
        and t.asked_at is not null
    )`
