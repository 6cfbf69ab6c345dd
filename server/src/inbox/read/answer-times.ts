import type { Sql } from '../../base/db.ts'
import { timestampArray } from '../../base/postgres/values.ts'

/** Who answered: a member or a team token, an API key, or another app on the same number. */
export type Answerer = 'people' | 'agents' | 'otherApps'

export interface AnswerTimes {
  answerer: Answerer
  /** Which of the days, from 1; null for all of them together. */
  day: number | null
  answers: number
  medianSeconds: number
  p90Seconds: number
}

const maxConversations = 2000
const maxMessagesEach = 1000

/**
 * How long customers waited for the first answer after they wrote, by who gave it and on which day. Of many
 * conversations a sample is read, chosen by their ids alone, and of each its newest messages: the cost stays the same.
 */
export async function readAnswerTimes(
  sql: Sql,
  workspaceId: string,
  starts: readonly Date[],
): Promise<{ sampledEvery: number; times: AnswerTimes[] }> {
  const from = starts[0] ?? null
  const [active] = await sql<{ count: number }[]>`
    select count(*)::integer as count
    from conversations c
    where c.workspace_id = ${workspaceId}
      and c.updated_at >= ${from}::timestamptz`
  const sampledEvery = Math.max(1, Math.ceil((active?.count ?? 0) / maxConversations))
  const times = await sql<AnswerTimes[]>`
    with sampled as materialized (
      select c.id
      from conversations c
      where c.workspace_id = ${workspaceId}
        and c.updated_at >= ${from}::timestamptz
        and mod(hashtext(c.id::text)::bigint, ${sampledEvery}::bigint) = 0
    ),
    said as (
      select s.id as conversation_id, m.direction, m.origin, m.actor_type, m.occurred_at,
        lag(m.direction) over (partition by s.id order by m.occurred_at) as before
      from sampled s
      cross join lateral (
        select m.direction, m.origin, m.actor_type, m.occurred_at
        from messages m
        where m.workspace_id = ${workspaceId}
          and m.conversation_id = s.id
          and m.occurred_at >= ${from}::timestamptz
          and m.origin <> 'history'
          and m.kind <> 'system'
          and m.status <> 'failed'
        order by m.occurred_at desc
        limit ${maxMessagesEach}
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
        width_bucket(t.occurred_at, ${timestampArray(starts)}::timestamptz[]) as day,
        extract(epoch from t.occurred_at - t.asked_at)::double precision as seconds
      from turns t
      where t.direction = 'outbound'
        and t.asked_at is not null
    )
    select a.answerer,
      a.day,
      (count(*) * ${sampledEvery})::integer as answers,
      percentile_cont(0.5) within group (order by a.seconds) as "medianSeconds",
      percentile_cont(0.9) within group (order by a.seconds) as "p90Seconds"
    from answers a
    where a.answerer is not null
    group by grouping sets ((a.answerer), (a.answerer, a.day))`
  return { sampledEvery, times }
}
