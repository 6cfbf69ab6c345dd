import type { Clock } from '../base/clock.ts'
import type { Db, Tx } from '../base/db.ts'
import { type DueWatch, watchDueWork } from '../base/pubsub.ts'
import { recordNotifications } from '../notifications/record-notifications.ts'
import { liveUpdatesTopic, publishTask, taskUpdates } from '../team/live-updates.ts'
import { systemActor } from '../workspaces/actor.ts'
import { findNonMembers } from '../workspaces/workspace.ts'
import type { Task } from './task.ts'

const batchSize = 200
const pollEveryMs = 15_000

/** Watches for tasks that are due. */
export function watchTasks({ db, clock }: { db: Db; clock: Clock }): DueWatch {
  const nextAt = async () => {
    const [row] = await db.sql<{ at: Date | null }[]>`
      select min(remind_at) as at
      from tasks`
    return row?.at ?? null
  }
  const watchedTopics = [{ topic: liveUpdatesTopic, isRelevant: taskUpdates }]
  return watchDueWork({ db, clock }, { nextAt, pollEveryMs, minPauseMs: 3_000, watchedTopics })
}

/**
 * Reminds people of tasks that are due, once for each task and due time. Called by a timer; several nodes share the work.
 * Returns how many were due.
 */
export async function remindDueTasks(db: Db, clock: Clock): Promise<number> {
  let reminded = 0
  for (;;) {
    const now = clock.now()
    const workspaces = await db.sql<{ id: string }[]>`
      select distinct workspace_id as id
      from tasks
      where remind_at <= ${now}`
    let count = 0
    for (const { id } of workspaces) count += await db.tx((tx) => remindBatch(tx, id, now))
    reminded += count
    // Other nodes hold the locks of the remaining rows.
    if (count === 0) return reminded
  }
}

/** A task at its due time. */
type DueTask = Pick<Task, 'id' | 'leadId' | 'conversationId' | 'assignedTo' | 'dueAt'>

async function remindBatch(tx: Tx, workspaceId: string, now: Date): Promise<number> {
  const due = await tx<DueTask[]>`
    with due as (
      select id
      from tasks
      where workspace_id = ${workspaceId}
        and remind_at <= ${now}
      order by remind_at
      limit ${batchSize}
      for update skip locked
    )
    update tasks t
    set remind_at = null
    from due
    where t.workspace_id = ${workspaceId}
      and t.id = due.id
    returning t.id, t.lead_id as "leadId", t.conversation_id as "conversationId", t.assigned_to as "assignedTo",
      t.due_at as "dueAt"`
  if (due.length === 0) return 0
  const assignees = [...new Set(due.flatMap(({ assignedTo }) => assignedTo ?? []))]
  const former = new Set(await findNonMembers(tx, workspaceId, assignees))
  for (const task of due) {
    const assignedTo = task.assignedTo !== null && former.has(task.assignedTo) ? null : task.assignedTo
    await recordTaskDue(tx, workspaceId, { ...task, assignedTo }, now)
  }
  return due.length
}

/** Records that a task is due, in the transaction that makes it the only time: the notification, and what else follows. */
async function recordTaskDue(tx: Tx, workspaceId: string, task: DueTask, now: Date): Promise<void> {
  const { id, conversationId, assignedTo: userId, dueAt } = task
  const cause = `${id} ${dueAt.toISOString()}`
  await recordNotifications(tx, workspaceId, [{ kind: 'task', cause, userId, conversationId, actor: systemActor }], now)
  publishTask(tx, workspaceId, id)
}
