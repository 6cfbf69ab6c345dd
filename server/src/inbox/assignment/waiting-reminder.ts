import { andOnlyWorkspace, byWorkspace, isDistributed, type OnlyWorkspace } from '../../base/citus/distributed-sql.ts'
import type { Clock } from '../../base/clock.ts'
import type { Db, Fragment, Sql, Tx } from '../../base/db.ts'
import { newId } from '../../base/id.ts'
import { timestampArray } from '../../base/postgres/values.ts'
import { collectChangedIds } from '../../base/pubsub.ts'
import { markWaitingRead } from '../../notifications/notifications.ts'
import { type NewNotification, recordNotifications } from '../../notifications/record-notifications.ts'
import { liveUpdatesTopic } from '../../team/live-updates.ts'
import { openingAt } from '../../team/opening-hours.ts'
import { systemActor } from '../../workspaces/actor.ts'
import { readServiceSettings, serviceOf } from '../../workspaces/service/service-settings.ts'
import {
  type ColumnSource,
  currentColumns,
  indexedColumns,
  isIdle,
  touchedConversations,
} from '../conversation/activity-columns.ts'
import { conversationsTopic, type PlainTx } from '../conversation/conversation.ts'

/** Reminders per workspace and run; the next run continues. */
const batchSize = 100
/** More conversations for the same people become one notification. */
const maxSeparate = 5
/** Longer waits cause no reminder; the list of waiting customers shows them. */
const maxWaitMs = 3 * 86_400_000
/** Interval of a full scan of all workspaces. Reminders are due in minutes, and pub/sub messages are rarely lost. */
const allEveryMs = 60_000

interface WaitingCustomer {
  conversationId: string
  /** Null if unassigned or assigned to a former member. */
  assignedTo: string | null
  since: Date
}

interface WorkspaceWait extends WaitingCustomer {
  workspaceId: string
  teamId: string | null
}

/** Sends reminders for workspaces that published changes, once they are due. */
export interface WaitingReminder {
  isDue(): boolean
  /** Returns the number of reminders sent. */
  work(): Promise<number>
}

export function createWaitingReminder({ db, clock }: { db: Db; clock: Clock }): WaitingReminder {
  // Conversations with a changed wait, and workspaces with a changed goal.
  const changedIds = collectChangedIds({ db, clock }, { topics: [conversationsTopic, liveUpdatesTopic], allEveryMs })
  /** When the first known reminder of the workspace is due, in ms; -Infinity after a published change. */
  const dueAtMs = new Map<string, number>()
  let checksAll = true
  return {
    isDue: () => {
      const changed = changedIds.take()
      if (changed === null) checksAll = true
      for (const id of changed ?? []) dueAtMs.set(id.slice(0, id.indexOf(' ')), Number.NEGATIVE_INFINITY)
      const nowMs = clock.now().getTime()
      return checksAll || dueAtMs.values().some((atMs) => atMs <= nowMs)
    },
    work: async () => {
      const nowMs = clock.now().getTime()
      const isAll = checksAll
      const workspaceIds = [...dueAtMs].flatMap(([id, atMs]) => (atMs <= nowMs ? id : []))
      const next = await readNextWaits(db.sql, isAll ? null : workspaceIds, clock.now())
      const due = next.filter(({ dueAt }) => dueAt.getTime() <= nowMs)
      const dueIds = due.map(({ workspaceId }) => workspaceId)
      const sent = await sendWaitingReminders(db, clock, dueIds)
      if (isAll) dueAtMs.clear()
      else for (const id of workspaceIds) dueAtMs.delete(id)
      for (const { workspaceId, dueAt } of next) dueAtMs.set(workspaceId, dueAt.getTime())
      checksAll = false
      return sent
    },
  }
}

/**
 * Notifies people of customers who wait longer than the workspace's answer goal: the assignee, or everyone if there is
 * none. Sends one notification per wait, only during business hours, those of the conversation's team if it has its
 * own, and marks it read once the customer is answered. Called by a timer on any node, for these workspaces or for all.
 * Returns the number of waits notified.
 */
export async function sendWaitingReminders(
  db: Db,
  clock: Clock,
  workspaceIds: readonly string[] | null = null,
): Promise<number> {
  const now = clock.now()
  await db.tx((tx) => clearAnswered(tx, now))
  if (workspaceIds?.length === 0) return 0
  const found = await findWaits(db.sql, workspaceIds, now)
  let sent = 0
  for (const [workspaceId, waits = []] of Map.groupBy(found, (wait) => wait.workspaceId)) {
    const settings = await readServiceSettings(db.sql, workspaceId)
    const open = waits.filter(({ teamId }) => {
      const { hours } = serviceOf(settings, teamId)
      return hours === null || openingAt(hours, now).isOpen
    })
    if (open.length > 0) sent += await db.tx((tx) => recordReminders({ tx, workspaceId, now }, open))
  }
  return sent
}

/** Deletes waits that were answered and marks their notifications read. */
async function clearAnswered(tx: Tx, now: Date): Promise<void> {
  const answeredWaits = await tx<{ workspaceId: string; conversationId: string }[]>`
    delete from told_waits t
    using conversations c
    where c.workspace_id = t.workspace_id
      and c.id = t.conversation_id
      and (${currentColumns.unansweredSince(tx)} is null or ${currentColumns.unansweredSince(tx)} > t.since)
    returning t.workspace_id as "workspaceId", t.conversation_id as "conversationId"`
  for (const [workspaceId, rows = []] of Map.groupBy(answeredWaits, (row) => row.workspaceId)) {
    const ids = rows.map(({ conversationId }) => conversationId)
    await markWaitingRead(tx, workspaceId, ids, now)
  }
}

interface NextWait {
  workspaceId: string
  dueAt: Date
}

/** Returns when the next reminder of each workspace is due. */
function readNextWaits(sql: Sql, workspaceIds: readonly string[] | null, now: Date): Promise<readonly NextWait[]> {
  return forWaitingWorkspaces(
    sql,
    workspaceIds,
    (ids, only) => sql<NextWait[]>`
    select w.id as "workspaceId", c.unanswered_since + w.answer_goal_minutes * interval '1 minute' as "dueAt"
    from workspaces w
    cross join lateral (
      ${longestWaits(sql, only, 1, (columns) => isNotReminded(sql, columns, only, now))}
    ) as c
    where ${isOneOf(sql, ids, only)}`,
  )
}

function findWaits(sql: Sql, workspaceIds: readonly string[] | null, now: Date): Promise<readonly WorkspaceWait[]> {
  const isDue = ({ unansweredSince }: ColumnSource) => sql`
    ${unansweredSince(sql)} <= ${now}::timestamptz - w.answer_goal_minutes * interval '1 minute'`
  return forWaitingWorkspaces(
    sql,
    workspaceIds,
    (ids, only) => sql<WorkspaceWait[]>`
    select w.id as "workspaceId", c.team_id as "teamId", c.id as "conversationId", m.user_id as "assignedTo",
      c.unanswered_since as since
    from workspaces w
    cross join lateral (
      ${longestWaits(sql, only, batchSize, (columns) => sql`${isDue(columns)} and ${isNotReminded(sql, columns, only, now)}`)}
    ) as c
    left join members m
      on m.workspace_id = w.id
      and m.user_id = c.assigned_to
    where ${isOneOf(sql, ids, only)}
    order by w.id, c.unanswered_since, c.id`,
  )
}

/** SQL: the longest waits of a workspace `w`, from idle and touched conversations. */
function longestWaits(sql: Sql, only: OnlyWorkspace, limit: number, condition: (columns: ColumnSource) => Fragment) {
  const workspace = only === null ? sql`w.id` : sql`${only}::uuid`
  return sql`
    (
      select c.id, c.assigned_to, c.team_id, c.unanswered_since
      from conversations c
      where c.workspace_id = ${workspace}
        and ${isIdle(sql)}
        and ${condition(indexedColumns)}
      order by c.unanswered_since, c.id
      limit ${limit}
    )
    union all
    select c.id, c.assigned_to, c.team_id, c.now_unanswered_since
    from ${touchedConversations(sql, workspace)}
    where m.workspace_id = ${workspace}
      and ${condition(currentColumns)}
    order by unanswered_since, id
    limit ${limit}`
}

/** Runs `read` for these workspaces, or for all. On Citus it runs once per workspace with a waiting customer. */
async function forWaitingWorkspaces<R>(
  sql: Sql,
  workspaceIds: readonly string[] | null,
  read: (workspaceIds: readonly string[] | null, only: OnlyWorkspace) => Promise<readonly R[]>,
): Promise<readonly R[]> {
  if (!isDistributed(sql)) return read(workspaceIds, null)
  const ids = workspaceIds ?? (await listWaiting(sql))
  const idOf = (id: string) => id
  return byWorkspace(sql, ids, idOf, read)
}

/** Returns the workspaces that may have a waiting customer, reminded or not. */
async function listWaiting(sql: Sql): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select c.workspace_id as id
    from conversations c
    where c.unanswered_since is not null
    union
    select m.workspace_id
    from moving_conversations m`
  return rows.map(({ id }) => id)
}

/** SQL: condition on a workspace `w`. */
const isOneOf = (sql: Sql, workspaceIds: readonly string[] | null, only: OnlyWorkspace) => sql`
  w.answer_goal_minutes is not null
    and w.inbox_enabled
    ${workspaceIds === null || only !== null ? sql`` : sql`and w.id = any (${[...workspaceIds]}::uuid[])`}
    ${only === null ? sql`` : sql`and w.id = ${only}`}`

/** SQL: condition on a conversation `c` of the workspace `w`. */
const isNotReminded = (sql: Sql, { unansweredSince }: ColumnSource, only: OnlyWorkspace, now: Date) => sql`
  ${unansweredSince(sql)} > ${new Date(now.getTime() - maxWaitMs)}
    and c.status in ('open', 'pending')
    and not exists (
      select 1
      from told_waits t
      where t.workspace_id = w.id
        and t.conversation_id = c.id
        and t.since >= ${unansweredSince(sql)}
        ${andOnlyWorkspace(sql, only, 't')}
    )`

async function recordReminders({ tx, workspaceId, now }: PlainTx, waits: readonly WaitingCustomer[]) {
  // Several workers may find the same wait: the one that writes the row sends the reminder.
  const recorded = await tx<{ conversationId: string }[]>`
    insert into told_waits (workspace_id, conversation_id, since)
    select c.workspace_id, c.id, f.since
    from unnest(
      ${waits.map(({ conversationId }) => conversationId)}::uuid[],
      ${timestampArray(waits.map(({ since }) => since))}::timestamptz[]
    ) as f (id, since)
    join conversations c
      on c.workspace_id = ${workspaceId}
      and c.id = f.id
      and ${currentColumns.unansweredSince(tx)} = f.since
    on conflict (workspace_id, conversation_id)
    do update set since = excluded.since
    where told_waits.since < excluded.since
    returning conversation_id as "conversationId"`
  const ids = new Set(recorded.map(({ conversationId }) => conversationId))
  const found = waits.filter(({ conversationId }) => ids.has(conversationId))
  await recordNotifications(tx, workspaceId, notificationsFor(found, now), now)
  return found.length
}

function notificationsFor(waits: readonly WaitingCustomer[], now: Date): NewNotification[] {
  return [...Map.groupBy(waits, ({ assignedTo }) => assignedTo)].flatMap(([userId, group]): NewNotification[] => {
    const common = { kind: 'waiting', userId, actor: systemActor } as const
    if (group.length > maxSeparate) return [{ ...common, cause: newId(now), count: group.length }]
    return group.map(({ conversationId, since }) => ({
      ...common,
      cause: `${conversationId} ${since.toISOString()}`,
      conversationId,
    }))
  })
}
