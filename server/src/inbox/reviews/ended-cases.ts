import type { Fragment, Sql } from '../../base/db.ts'
import { firstIdAt } from '../../base/id.ts'
import { opaqueWorkspaceId } from '../conversation/queries.ts'

/**
 * How a case of an agent ended. A case is what the agent did on one request of a customer: it begins when the agent
 * becomes the owner, or after the conversation was closed, and ends when it is closed or gets another owner.
 */
export const caseOutcomes = [
  /** Closed without people, and not opened again within 72 hours. */
  'resolved',
  /** Closed without people less than 72 hours ago: it may still be opened again. */
  'recent',
  /** Closed without people, and opened again within 72 hours. */
  'reopened',
  /** Closed, and a person wrote or decided on a draft since the request began. */
  'assisted',
  'handed_over',
  'taken_over',
  /** People got it because the agent did not answer in time. */
  'silent',
  /** It went to another agent, or to people because the key ended or agents were stopped. */
  'other',
] as const
export type CaseOutcome = (typeof caseOutcomes)[number]

export const reopenHours = 72
/** Messages of a case that are read, newest first. */
const maxMessages = 1000
/** Ids are ahead of their time by at most the ids of a burst. */
const idSlackMs = 60_000

/** SQL: whether the activity closed the conversation. */
export const isClosing = (sql: Sql, a: Fragment): Fragment => sql`
  ${a}.kind = 'status'
    and ${a}.detail ->> 'to' in ('resolved', 'closed')
    and ${a}.detail ->> 'from' not in ('resolved', 'closed')`

/** SQL: whether the activity opened a closed conversation again. */
export const isReopening = (sql: Sql, a: Fragment): Fragment => sql`
  ${a}.kind = 'status'
    and ${a}.detail ->> 'from' in ('resolved', 'closed')
    and ${a}.detail ->> 'to' not in ('resolved', 'closed')`

/** SQL: whether a row of the table was created in this time; uses the primary key, since ids grow with time. */
export const createdIn = (sql: Sql, table: Fragment, { from, to }: { from: Date; to: Date }): Fragment => sql`
  ${table}.id >= ${firstIdAt(from)}::uuid
    and ${table}.id < ${firstIdAt(new Date(to.getTime() + idSlackMs))}::uuid
    and ${table}.created_at >= ${from}
    and ${table}.created_at < ${to}`

interface CaseSource {
  workspaceId: string
  /** SQL: condition on the activities `a` that may have ended a case. */
  where: Fragment
  now: Date
}

/**
 * SQL, after `with`: `cases`, one row per case of an agent that one of these activities ended. A case counts if the agent
 * answered in it, handed it over, or was silent. Each costs five lookups by index, whatever the size of the workspace.
 */
export function endedCases(sql: Sql, { workspaceId, where, now }: CaseSource): Fragment {
  const workspace = opaqueWorkspaceId(sql, workspaceId)
  const earlier = sql`
    a.workspace_id = ${workspace}
      and a.conversation_id = e.conversation_id
      and (a.created_at, a.id) < (e.created_at, e.id)`
  return sql`
    ends as materialized (
      select a.id, a.conversation_id, a.kind, a.detail ->> 'from' as was, a.detail ->> 'to' as became, a.reason,
        a.actor_type, a.created_at
      from conversation_activities a
      where a.workspace_id = ${workspaceId}
        and ${where}
        and ((a.kind = 'owner' and a.detail ->> 'from' <> 'human') or (${isClosing(sql, sql`a`)}))
    ),
    placed as (
      select e.*, c.created_at as closed_at, greatest(o.created_at, c.created_at) as started_at,
        case when e.kind = 'owner' then e.was else coalesce(o.owner, n.owner) end as owner
      from ends e
      left join lateral (
        select a.detail ->> 'to' as owner, a.created_at
        from conversation_activities a
        where ${earlier}
          and a.kind = 'owner'
        order by a.created_at desc, a.id desc
        limit 1
      ) o on true
      left join lateral (
        select a.created_at
        from conversation_activities a
        where ${earlier}
          and ${isClosing(sql, sql`a`)}
        order by a.created_at desc, a.id desc
        limit 1
      ) c on true
      -- The activity that made the agent the owner may be older than activities are kept.
      left join lateral (
        select case when k.owner_key_id is null then 'human' else 'agent:' || k.owner_key_id end as owner
        from conversations k
        where k.workspace_id = ${workspace}
          and k.id = e.conversation_id
          and o.owner is null
      ) n on true
    ),
    owned as (
      select p.*, nullif(substr(p.owner, 7), '')::uuid as key_id
      from placed p
    ),
    all_cases as (
      select o.id, o.conversation_id, o.key_id, o.started_at, o.created_at as ended_at, m.messages, m.answered_at,
        r.reopened_at,
        case
          when o.kind = 'status' then case
            when m.has_people or d.has_decision then 'assisted'
            when r.reopened_at is not null then 'reopened'
            when o.created_at > ${new Date(now.getTime() - reopenHours * 3_600_000)} then 'recent'
            else 'resolved'
          end
          when o.reason = 'watchdog' then 'silent'
          when o.reason in ('agents_stopped', 'key_ended', 'merged') or o.became <> 'human' then 'other'
          when o.actor_type = 'agent' then 'handed_over'
          when o.actor_type in ('user', 'token') or o.reason = 'phone' then 'taken_over'
          else 'other'
        end as outcome
      from owned o
      ${messagesOf(sql, workspace)}
      left join lateral (
        select true as has_decision
        from conversation_activities a
        where a.workspace_id = ${workspace}
          and a.conversation_id = o.conversation_id
          and a.created_at > coalesce(o.closed_at, '-infinity')
          and a.created_at <= o.created_at
          and a.kind = 'draft'
        limit 1
      ) d on true
      left join lateral (
        select a.created_at as reopened_at
        from conversation_activities a
        where a.workspace_id = ${workspace}
          and a.conversation_id = o.conversation_id
          and (a.created_at, a.id) > (o.created_at, o.id)
          and a.created_at <= o.created_at + ${reopenHours}::integer * interval '1 hour'
          and o.kind = 'status'
          and ${isReopening(sql, sql`a`)}
        order by a.created_at, a.id
        limit 1
      ) r on true
      where o.key_id is not null
    ),
    cases as (
      select *
      from all_cases
      where answered_at is not null
        or outcome in ('handed_over', 'silent')
    )`
}

/** SQL: what was written on the request of the case `o`: messages and answers in the case, and whether people wrote. */
const messagesOf = (sql: Sql, workspace: Fragment): Fragment => sql`
  cross join lateral (
    select
      (count(*) filter (where w.is_in_case))::integer as messages,
      max(w.occurred_at) filter (where w.is_in_case and w.actor_type = 'agent' and w.actor_id = o.key_id) as answered_at,
      coalesce(bool_or(w.direction = 'outbound' and (w.origin = 'echo' or w.actor_type in ('user', 'token'))), false)
        as has_people
    from (
      select m.direction, m.origin, m.actor_type, m.actor_id, m.occurred_at,
        o.started_at is null or m.occurred_at >= o.started_at as is_in_case
      from messages m
      where m.workspace_id = ${workspace}
        and m.conversation_id = o.conversation_id
        and m.occurred_at > coalesce(o.closed_at, '-infinity')
        and m.occurred_at <= o.created_at
        and m.origin <> 'history'
        and m.kind <> 'system'
        and m.status <> 'failed'
      order by m.occurred_at desc
      limit ${maxMessages}
    ) w
  ) m`

/** SQL, for `from cases c`: `v`, the version of the instructions in force at the agent's last answer. */
export const instructionsOf = (sql: Sql, workspaceId: string): Fragment => {
  const newest = (condition: Fragment) => sql`
    select i.id, i.version, i.key_id, i.text
    from instruction_versions i
    where i.workspace_id = ${opaqueWorkspaceId(sql, workspaceId)}
      and i.connection_id is null
      and ${condition}
      and i.published_at <= coalesce(c.answered_at, c.ended_at)
    order by i.published_at desc, i.version desc
    limit 1`
  return sql`
    left join lateral (${newest(sql`i.key_id = c.key_id`)}) own on own.text is not null
    left join lateral (${newest(sql`i.key_id is null`)}) shared on shared.text is not null
    cross join lateral (select coalesce(own.id, shared.id) as id) v`
}
