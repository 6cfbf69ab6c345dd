import type { Clock } from '../base/clock.ts'
import type { Db } from '../base/db.ts'
import { type DueWatch, watchDueWork } from '../base/pubsub.ts'
import { recordOptInEvents } from '../events/record.ts'
import { type ChangeDeps, type ChangeTx, firstTime, inWorkspace } from '../inbox/conversation/conversation.ts'
import { taskDue } from '../inbox/conversation/opt-in-events.ts'
import { recordNotifications } from '../notifications/record-notifications.ts'
import { liveUpdatesTopic, publishTask, taskUpdates } from '../team/live-updates.ts'
import { systemActor } from '../workspaces/actor.ts'
import { findNonMembers } from '../workspaces/workspace.ts'
import { decryptTitle, findConnections, type Task } from './task.ts'

const batchSize = 200
const pollEveryMs = 15_000

/** Watches for tasks that are due. */
export function watchTasks({ db, clock }: { db: Db; clock: Clock }): DueWatch {
  const nextAt = () => firstTime(db.sql<{ at: Date | null }[]>`select min(remind_at) as at from tasks`)
  const watchedTopics = [{ topic: liveUpdatesTopic, isRelevant: taskUpdates }]
  return watchDueWork({ db, clock }, { nextAt, pollEveryMs, minPauseMs: 3_000, watchedTopics })
}

/**
 * Reminds people of tasks that are due, once for each task and due time. Called by a timer; several nodes share the work.
 * Returns how many were due.
 */
export async function remindDueTasks(deps: ChangeDeps): Promise<number> {
  let reminded = 0
  for (;;) {
    const now = deps.clock.now()
    const workspaces = await deps.db.sql<{ id: string }[]>`
      select distinct workspace_id as id
      from tasks
      where remind_at <= ${now}`
    let count = 0
    for (const { id } of workspaces) count += await inWorkspace(deps, id, remindBatch)
    reminded += count
    // Other nodes hold the locks of the remaining rows.
    if (count === 0) return reminded
  }
}

/** A task at its due time. */
type DueTask = Pick<Task, 'id' | 'leadId' | 'conversationId' | 'assignedTo' | 'dueAt'> & { title: Buffer }

async function remindBatch(work: ChangeTx): Promise<number> {
  const { tx, workspaceId, now } = work
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
      t.due_at as "dueAt", t.title`
  if (due.length === 0) return 0
  const assignees = [...new Set(due.flatMap(({ assignedTo }) => assignedTo ?? []))]
  const former = new Set(await findNonMembers(tx, workspaceId, assignees))
  const tasks = due.map((task) => ({
    ...task,
    assignedTo: task.assignedTo !== null && former.has(task.assignedTo) ? null : task.assignedTo,
  }))
  await recordTasksDue(work, tasks)
  return due.length
}

/** Records that tasks are due, in the only transaction that finds them: the notifications and the events. */
async function recordTasksDue(work: ChangeTx, tasks: readonly DueTask[]): Promise<void> {
  const { tx, keyring, workspaceId, now } = work
  const notifications = tasks.map(({ id, conversationId, assignedTo: userId, dueAt }) => {
    const cause = `${id} ${dueAt.toISOString()}`
    return { kind: 'task', cause, userId, conversationId, actor: systemActor } as const
  })
  await recordNotifications(tx, workspaceId, notifications, now)
  const about = tasks.flatMap(({ conversationId }) => conversationId ?? [])
  const conversations = new Map((await findConnections(tx, workspaceId, about)).map((one) => [one.id, one]))
  const events = tasks.map(({ id, title, dueAt, assignedTo: assignee, conversationId, leadId }) => {
    const conversation = conversations.get(conversationId ?? '') ?? null
    return taskDue({ id, title: decryptTitle(keyring, id, title), dueAt, assignee, conversation, leadId })
  })
  await recordOptInEvents(work, events)
  for (const { id } of tasks) publishTask(tx, workspaceId, id)
}
