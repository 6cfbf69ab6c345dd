import type { Sql } from '../base/db.ts'
import { firstIdAt } from '../base/id.ts'
import {
  type ColumnSource,
  currentColumns,
  indexedColumns,
  isIdle,
  touchedConversations,
} from '../inbox/conversation/activity-columns.ts'
import type { WorkspaceSql } from '../inbox/conversation/conversation.ts'
import { opaqueWorkspaceId } from '../inbox/conversation/queries.ts'
import type { Rule } from './judge.ts'
import { type Occurrence, waitOccurrence } from './occurrences.ts'

const minuteMs = 60_000
/** A wait that no rule has acted on is judged again, so that one that ends at night is acted on in the morning. */
const judgedForMs = 7 * 1440 * minuteMs
/** Conversations per rule and time; the newest come first. */
const maxWaits = 500

interface WaitRow {
  id: string
  key: string
  since: Date
  /** Who set the status that has stayed. */
  actor?: Occurrence['actor']
}

/** Returns the waits that have lasted as long as the rule says, and that it has not acted on. */
export async function findWaits(
  reader: WorkspaceSql,
  rule: Rule,
  { timersAt, now }: { timersAt: Date; now: Date },
): Promise<Occurrence[]> {
  const afterMs = (rule.afterMinutes ?? 0) * minuteMs
  const upTo = new Date(now.getTime() - afterMs)
  const enabledMs = (rule.enabledAt ?? now).getTime()
  const from = new Date(Math.max(upTo.getTime() - judgedForMs, enabledMs - afterMs))
  const rows =
    rule.trigger === 'status_unchanged'
      ? await findUnchanged(reader, new Date(Math.max(timersAt.getTime() - afterMs, from.getTime())), upTo)
      : await findSilent(reader, rule, from, upTo)
  return rows.map(({ id, key, since, actor = null }) => ({
    ...waitOccurrence(rule, key, id, new Date(since.getTime() + afterMs)),
    actor,
  }))
}

async function findSilent(reader: WorkspaceSql, { id: ruleId, trigger }: Rule, from: Date, upTo: Date) {
  const { sql, workspaceId } = reader
  const workspace = opaqueWorkspaceId(sql, workspaceId)
  const { since, isWaiting, episode } = trigger === 'no_team_answer' ? ofCustomer : ofTeam
  const condition = (columns: ColumnSource) => sql`
    c.status in ('open', 'pending')
      and ${isWaiting(sql, columns)}
      and ${since(sql, columns)} > ${from}
      and ${since(sql, columns)} <= ${upTo}`
  const wanted = (columns: ColumnSource) => sql`
    c.id, ${since(sql, columns)} as since, md5(${`${trigger} `} || c.id || ' ' || ${episode(sql, columns)})::uuid as key`
  return sql<WaitRow[]>`
    select w.id, w.key, w.since
    from (
      select ${wanted(indexedColumns)}
      from conversations c
      where c.workspace_id = ${workspaceId}
        and ${isIdle(sql)}
        and ${condition(indexedColumns)}
      union all
      select ${wanted(currentColumns)}
      from ${touchedConversations(sql, workspace)}
      where m.workspace_id = ${workspaceId}
        and ${condition(currentColumns)}
    ) as w
    where not exists (
      select 1
      from automation_runs r
      where r.workspace_id = ${workspaceId}
        and r.rule_id = ${ruleId}
        and r.event_key = w.key
    )
    order by w.since desc
    limit ${maxWaits}`
}

/** A customer waits for an answer: once since their oldest message that has none. */
const ofCustomer = {
  since: (sql: Sql, columns: ColumnSource) => columns.unansweredSince(sql),
  isWaiting: (sql: Sql, columns: ColumnSource) => sql`${columns.unansweredSince(sql)} is not null`,
  episode: (sql: Sql, columns: ColumnSource) =>
    sql`(extract(epoch from ${columns.unansweredSince(sql)}) * 1000)::bigint`,
}

/** The team waits for the customer: once until they write, however much the team writes meanwhile. */
const ofTeam = {
  since: (sql: Sql, columns: ColumnSource) => columns.lastMessageAt(sql),
  isWaiting: (sql: Sql, columns: ColumnSource) => sql`${columns.unansweredSince(sql)} is null`,
  episode: (sql: Sql, _columns: ColumnSource) => sql`coalesce(c.newest_inbound_id::text, '')`,
}

/** Returns the last changes of status in a time, after which none followed. By then all of that time are committed. */
async function findUnchanged({ sql, workspaceId }: WorkspaceSql, from: Date, upTo: Date): Promise<WaitRow[]> {
  return sql<WaitRow[]>`
    select a.conversation_id as id, a.id as key, a.created_at as since,
      json_build_object('type', a.actor_type, 'id', a.actor_id) as actor
    from conversation_activities a
    where a.workspace_id = ${workspaceId}
      and a.kind = 'status'
      and a.id >= ${firstIdAt(from)}
      and a.id < ${firstIdAt(new Date(upTo.getTime() + minuteMs))}
      and a.created_at > ${from}
      and a.created_at <= ${upTo}
      and not exists (
        select 1
        from conversation_activities later
        where later.workspace_id = ${workspaceId}
          and later.conversation_id = a.conversation_id
          and later.kind = 'status'
          and (later.created_at, later.id) > (a.created_at, a.id)
      )
    order by a.id`
}
