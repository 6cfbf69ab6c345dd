import type { Fragment } from '../base/db.ts'
import { conflict, invalid } from '../base/errors.ts'
import { newId } from '../base/id.ts'
import { recordActivities } from '../inbox/conversation/commit-change.ts'
import {
  type ChangeDeps,
  type ChangeTx,
  conversationNotFound,
  inWorkspace,
  publishConversations,
  type Scope,
} from '../inbox/conversation/conversation.ts'
import { resolvedConversationId } from '../inbox/conversation/queries.ts'
import { leadNotFound } from '../leads/lead/lead.ts'
import { lockLiveLeads } from '../leads/lead/queries.ts'
import { publishLead, publishTask } from '../team/live-updates.ts'
import { findNonMembers } from '../workspaces/workspace.ts'
import {
  decryptTask,
  encryptTitle,
  findConnections,
  requireTask,
  type Task,
  type TaskRow,
  taskColumns,
} from './task.ts'

/** How many open tasks a lead or a conversation, and a workspace, can have. */
const maxOfSubject = 200
const maxOfWorkspace = 5_000

type Author = Scope & { actor: Task['actor'] }

export type NewTask = Pick<Task, 'leadId' | 'conversationId' | 'title' | 'dueAt' | 'assignedTo'>

/**
 * Creates a task, with a reminder at its due time. The same open task of the same author is created once. Throws 404 for
 * a lead or a conversation that the author cannot see, 400 for a person who is no member, 409 at the limits.
 */
export function createTask(deps: ChangeDeps, by: Author, task: NewTask): Promise<{ task: Task; isNew: boolean }> {
  return inWorkspace(deps, by.workspaceId, async (work) => {
    const conversationId =
      task.conversationId === null ? null : await requireConversation(work, by, task.conversationId)
    if (task.leadId !== null) await requireLead(work, task.leadId)
    await checkAssignee(work, task.assignedTo)
    const wanted = { ...task, conversationId }
    await lockLimits(work)
    const earlier = await findSame(work, by, wanted)
    if (earlier !== undefined) return { task: earlier, isNew: false }
    await checkLimits(work, wanted)
    return { task: await insertTask(work, by, wanted), isNew: true }
  })
}

async function requireConversation({ tx }: ChangeTx, scope: Scope, id: string): Promise<string> {
  const [row] = await tx<{ id: string }[]>`${resolvedConversationId(tx, scope, id)}`
  if (row === undefined) throw conversationNotFound()
  return row.id
}

async function requireLead({ tx, workspaceId }: ChangeTx, id: string): Promise<void> {
  if ((await lockLiveLeads(tx, workspaceId, [id])).length === 0) throw leadNotFound()
}

async function checkAssignee({ tx, workspaceId }: ChangeTx, userId: string | null): Promise<void> {
  if (userId === null) return
  const nonMembers = await findNonMembers(tx, workspaceId, [userId])
  if (nonMembers.length > 0) throw invalid('assignedTo', 'must be a member of the workspace')
}

/** One transaction of a workspace at a time adds open tasks, so that the limits hold. */
const lockLimits = ({ tx, workspaceId }: ChangeTx) =>
  tx`select pg_advisory_xact_lock(hashtextextended(${`tasks ${workspaceId}`}, 0))`

async function findSame({ tx, keyring, workspaceId }: ChangeTx, { actor }: Author, task: NewTask) {
  const rows = await tx<TaskRow[]>`
    select ${taskColumns(tx)}
    from tasks t
    where t.workspace_id = ${workspaceId}
      and t.due_at = ${task.dueAt}
      and t.done_at is null
      and t.actor_id = ${actor.id}
      and t.assigned_to is not distinct from ${task.assignedTo}::uuid
      and t.lead_id is not distinct from ${task.leadId}::uuid
      and t.conversation_id is not distinct from ${task.conversationId}::uuid`
  return rows.map((row) => decryptTask(keyring, row)).find(({ title }) => title === task.title)
}

async function checkLimits(work: ChangeTx, { leadId, conversationId }: Pick<Task, 'leadId' | 'conversationId'>) {
  const { tx, workspaceId } = work
  const [count] = await tx<{ all: number; ofLead: number; ofConversation: number }[]>`
    select count(*)::integer as all,
      (count(*) filter (where lead_id = ${leadId}))::integer as "ofLead",
      (count(*) filter (where conversation_id = ${conversationId}))::integer as "ofConversation"
    from tasks
    where workspace_id = ${workspaceId}
      and done_at is null`
  const { all = 0, ofLead = 0, ofConversation = 0 } = count ?? {}
  if (Math.max(ofLead, ofConversation) >= maxOfSubject) {
    throw conflict(
      `The limit of ${maxOfSubject} open tasks of a lead or a conversation is reached. Complete one first.`,
    )
  }
  if (all >= maxOfWorkspace) {
    throw conflict(`A workspace has at most ${maxOfWorkspace} open tasks. Complete one first.`)
  }
}

async function insertTask(work: ChangeTx, { actor }: Author, wanted: NewTask): Promise<Task> {
  const { tx, keyring, workspaceId, now } = work
  const task: Task = { ...wanted, id: newId(now), doneAt: null, actor, createdAt: now }
  await tx`
    insert into tasks (
      workspace_id, id, lead_id, conversation_id, title, due_at, remind_at, assigned_to, actor_type, actor_id, created_at
    )
    values (
      ${workspaceId}, ${task.id}, ${task.leadId}, ${task.conversationId},
      ${encryptTitle(keyring, task.id, task.title)}, ${task.dueAt}, ${task.dueAt}, ${task.assignedTo}, ${actor.type},
      ${actor.id}, ${now}
    )`
  await recordChange(work, task, actor, 'created')
  return task
}

/** Shows the change on open pages, and in the thread of the conversation. */
async function recordChange(
  work: ChangeTx,
  { id, leadId, conversationId }: Task,
  actor: Task['actor'],
  to: 'created' | 'done' | 'reopened' | 'deleted' | null,
): Promise<void> {
  const { tx, workspaceId } = work
  publishTask(tx, workspaceId, id)
  if (leadId !== null) publishLead(tx, workspaceId, leadId)
  if (conversationId === null || to === null) return
  publishConversations(tx, workspaceId, [conversationId])
  const items = (await findConnections(tx, workspaceId, [conversationId])).map((conversation) => ({
    conversation,
    detail: { kind: 'task', to } as const,
  }))
  await recordActivities(work, items, { actor, reason: null })
}

export interface TaskPatch {
  title?: string
  dueAt?: Date
  assignedTo?: string | null
  isDone?: boolean
}

/** Changes a task. A new due time, and reopening before the due time, reminds again. Throws as `createTask`. */
export function changeTask(deps: ChangeDeps, by: Author, id: string, patch: TaskPatch): Promise<Task> {
  return inWorkspace(deps, by.workspaceId, async (work) => {
    const { tx, keyring, workspaceId, now } = work
    if (patch.isDone === false) await lockLimits(work)
    const before = await requireTask({ ...work, sql: tx }, id, tx`for update`)
    const { title = before.title, dueAt = before.dueAt, assignedTo = before.assignedTo } = patch
    const wasDone = before.doneAt !== null
    const isDone = patch.isDone ?? wasDone
    if (assignedTo !== before.assignedTo) await checkAssignee(work, assignedTo)
    if (wasDone && !isDone) await checkLimits(work, before)
    const doneAt = isDone ? (before.doneAt ?? now) : null
    const after = { ...before, title, dueAt, assignedTo, doneAt }
    const isMoved = dueAt.getTime() !== before.dueAt.getTime()
    await tx`
      update tasks
      set title = ${encryptTitle(keyring, id, title)},
        due_at = ${dueAt},
        remind_at = ${remindAt(work, { isDone, isMoved, wasDone }, dueAt)},
        assigned_to = ${assignedTo},
        done_at = ${doneAt}
      where workspace_id = ${workspaceId}
        and id = ${id}`
    await recordChange(work, after, by.actor, isDone === wasDone ? null : isDone ? 'done' : 'reopened')
    return after
  })
}

/** SQL: each due time reminds once. */
function remindAt(
  { tx, now }: ChangeTx,
  { isDone, isMoved, wasDone }: { isDone: boolean; isMoved: boolean; wasDone: boolean },
  dueAt: Date,
): Fragment {
  if (isDone) return tx`null`
  if (isMoved || (wasDone && dueAt > now)) return tx`${dueAt}::timestamptz`
  return tx`remind_at`
}

/** Deletes a task. Throws 404. */
export function deleteTask(deps: ChangeDeps, by: Author, id: string): Promise<void> {
  return inWorkspace(deps, by.workspaceId, async (work) => {
    const { tx, workspaceId } = work
    const task = await requireTask({ ...work, sql: tx }, id, tx`for update`)
    await tx`
      delete from tasks
      where workspace_id = ${workspaceId}
        and id = ${id}`
    await recordChange(work, task, by.actor, 'deleted')
  })
}
