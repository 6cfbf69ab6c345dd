import type { Db, Sql, Tx } from '../base/db.ts'
import { firstIdAt } from '../base/id.ts'

/** Published when a workspace has something to count that is no change of a conversation or lead; the id is the workspace. */
export const reportsTopic = 'reports'

/** What is made again, in this order. */
export type Rebuilding = 'conversations' | 'leads' | 'days'

/** How far the changes of a workspace were counted. */
export interface ReportQueue {
  version: number
  /** In the event feed. */
  position: number
  lastPosition: number
  /** Recorded changes of conversations up to this id. */
  activitiesTo: string
  timeZone: string
  /** That of the business hours now. */
  wantedZone: string
  rebuilding: Rebuilding | null
  rebuiltTo: string | null
  costsDueAt: Date | null
  costsAll: boolean
}

const zone = (sql: Sql) => sql`coalesce(w.hours ->> 'timeZone', 'UTC')`

const maxWorkspaces = 1000

/** Returns which of these workspaces, or of all that may have something to count, are to be looked at; the longest waiting first. */
export async function listPending(sql: Sql, workspaceIds: readonly string[] | null, now: Date): Promise<string[]> {
  const pending = sql`
    (
      q.workspace_id is null
      or q.rebuilding is not null
      or q.position < q.last_position
      or q.time_zone <> ${zone(sql)}
      or q.costs_due_at <= ${now}
      or q.has_changes
    )`
  // What is of the workspace comes first: Citus joins its reference table only with the whole.
  const rows = await sql<{ id: string }[]>`
    select w.id
    from workspaces w
    left join (
      select q.workspace_id, q.rebuilding, q.position, q.time_zone, q.costs_due_at, q.counted_at, f.last_position,
        exists (
          select 1
          from conversation_activities a
          where a.workspace_id = q.workspace_id
            and a.id > q.activities_to
        ) or exists (
          select 1
          from report_leads l
          where l.workspace_id = q.workspace_id
        ) as has_changes
      from report_queues q
      left join event_feeds f on f.workspace_id = q.workspace_id
    ) q on q.workspace_id = w.id
    where w.sandbox_until is null
      and ${workspaceIds === null ? pending : sql`w.id = any (${[...workspaceIds]}::uuid[])`}
    order by q.counted_at nulls first, w.id
    limit ${maxWorkspaces}`
  return rows.map(({ id }) => id)
}

/** Returns the queue of a workspace. Of one that has none yet, everything is counted first. */
export async function readQueue(db: Db, workspaceId: string, now: Date): Promise<ReportQueue | undefined> {
  const select = async () => {
    const [queue] = await db.sql<ReportQueue[]>`
      select q.version, q.position, coalesce(f.last_position, 0) as "lastPosition", q.activities_to as "activitiesTo",
        q.time_zone as "timeZone", ${zone(db.sql)} as "wantedZone", q.rebuilding, q.rebuilt_to as "rebuiltTo",
        q.costs_due_at as "costsDueAt", q.costs_all as "costsAll"
      from report_queues q
      join workspaces w on w.id = q.workspace_id
      left join event_feeds f on f.workspace_id = q.workspace_id
      where q.workspace_id = ${workspaceId}`
    return queue
  }
  const queue = await select()
  if (queue !== undefined) return queue
  await db.statement(
    (tx) => tx`
      insert into report_queues (workspace_id, position, activities_to, time_zone, rebuilding, costs_due_at)
      select w.id, coalesce(f.last_position, 0), ${firstIdAt(now)}::uuid, ${zone(tx)}, 'conversations', ${now}::timestamptz
      from workspaces w
      left join event_feeds f on f.workspace_id = w.id
      where w.id = ${workspaceId}
      on conflict do nothing`,
  )
  return select()
}

/** What a step changes in the queue. */
export type QueueChange = Partial<
  Pick<ReportQueue, 'position' | 'activitiesTo' | 'timeZone' | 'rebuilding' | 'rebuiltTo' | 'costsDueAt' | 'costsAll'>
>

/** Another process has counted since the queue was read. */
export class QueueMoved extends Error {}

/** Moves the queue, and locks it until the transaction ends. Throws `QueueMoved` if it was moved since it was read. */
export async function moveQueue(tx: Tx, workspaceId: string, queue: ReportQueue, now: Date): Promise<void> {
  const moved = await tx`
    update report_queues
    set version = version + 1,
      position = ${queue.position},
      activities_to = ${queue.activitiesTo},
      time_zone = ${queue.timeZone},
      rebuilding = ${queue.rebuilding},
      rebuilt_to = ${queue.rebuiltTo},
      costs_due_at = ${queue.costsDueAt},
      costs_all = ${queue.costsAll},
      counted_at = ${now}
    where workspace_id = ${workspaceId}
      and version = ${queue.version}`
  if (moved.count === 0) throw new QueueMoved()
}

/** Has everything made again from the records, also sums and costs. */
export const rebuildReports = (db: Db, workspaceId: string, now: Date): Promise<unknown> =>
  db.statement(
    (tx) => tx`
      update report_queues
      set version = version + 1,
        rebuilding = 'conversations',
        rebuilt_to = null,
        costs_due_at = ${now},
        costs_all = true
      where workspace_id = ${workspaceId}`,
    { topic: reportsTopic, id: workspaceId },
  )

/** Has all costs summed again, after prices or the way of billing have changed. */
export const recountCosts = (db: Db, workspaceId: string, now: Date): Promise<unknown> =>
  db.statement(
    (tx) => tx`
      update report_queues
      set version = version + 1,
        costs_due_at = ${now},
        costs_all = true
      where workspace_id = ${workspaceId}`,
    { topic: reportsTopic, id: workspaceId },
  )
