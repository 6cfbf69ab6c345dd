import { decodeCursor, encodeCursor } from '../base/cursor.ts'
import type { Fragment, Sql } from '../base/db.ts'
import type { Keyring } from '../base/encryption/keyring.ts'
import { invalid, notFound } from '../base/errors.ts'
import { isUuid } from '../base/id.ts'
import type { WorkspaceSql } from '../inbox/conversation/conversation.ts'
import { opaqueWorkspaceId } from '../inbox/conversation/queries.ts'
import type { LeadDeps } from '../leads/lead/lead.ts'
import { idBefore, positionOfId, type TimelineEntry, type TimelineSlice } from '../leads/timeline/entries.ts'

/** What someone wants to come back to: about a lead, a conversation, both or neither. */
export interface Task {
  id: string
  leadId: string | null
  conversationId: string | null
  title: string
  dueAt: Date
  /** Null: anyone. */
  assignedTo: string | null
  doneAt: Date | null
  actor: { type: 'user' | 'token' | 'agent'; id: string }
  createdAt: Date
}

export interface TaskRow extends Omit<Task, 'title' | 'actor'> {
  title: Buffer
  actorType: Task['actor']['type']
  actorId: string
}

export const taskColumns = (sql: Sql): Fragment => sql`
  t.id, t.lead_id as "leadId", t.conversation_id as "conversationId", t.title, t.due_at as "dueAt",
  t.assigned_to as "assignedTo", t.done_at as "doneAt", t.actor_type as "actorType", t.actor_id as "actorId",
  t.created_at as "createdAt"`

const titlePlace = (id: string) => ({ table: 'tasks', row: id, column: 'title' })

export const encryptTitle = (keyring: Keyring, id: string, title: string): Buffer =>
  keyring.encrypt(titlePlace(id), title)

export const decryptTitle = (keyring: Keyring, id: string, title: Buffer): string =>
  keyring.decryptText(titlePlace(id), title)

/** Returns the conversations with their connections; those that were erased are left out. */
export async function findConnections(
  sql: Sql,
  workspaceId: string,
  ids: readonly string[],
): Promise<{ id: string; connectionId: string }[]> {
  if (ids.length === 0) return []
  return sql<{ id: string; connectionId: string }[]>`
    select id, connection_id as "connectionId"
    from conversations
    where workspace_id = ${workspaceId}
      and id = any (${[...new Set(ids)]}::uuid[])`
}

export function decryptTask(keyring: Keyring, { title, actorType: type, actorId: id, ...row }: TaskRow): Task {
  return { ...row, title: decryptTitle(keyring, row.id, title), actor: { type, id } }
}

/** Returns one task; `lock` is SQL, such as `for update`. Throws 404. */
export async function requireTask(reader: WorkspaceSql, id: string, lock: Fragment = reader.sql``): Promise<Task> {
  const { sql, keyring, workspaceId } = reader
  const [row] = await sql<TaskRow[]>`
    select ${taskColumns(sql)}
    from tasks t
    where t.workspace_id = ${workspaceId}
      and t.id = ${id}
    ${lock}`
  if (row === undefined) throw notFound('Task not found', { code: 'NOT_FOUND' })
  return decryptTask(keyring, row)
}

export const taskStates = ['open', 'overdue', 'done'] as const

export interface TaskFilter {
  state: (typeof taskStates)[number]
  /** Only of this person, and those of anyone; null: of all. */
  assignedTo: string | null
  /** Only about one of these. */
  leadId: string | null
  conversationId: string | null
}

/** Lists tasks: open ones by due time, done ones with the last first. */
export async function listTasks(
  { sql, keyring, workspaceId }: WorkspaceSql,
  { state, assignedTo, leadId, conversationId }: TaskFilter,
  { limit, cursor, now }: { limit: number; cursor: string | null; now: Date },
): Promise<{ tasks: Task[]; cursor: string | null }> {
  const after = cursor === null ? null : parseCursor(cursor, state === 'done')
  const isDone = state === 'done'
  const time = isDone ? sql`t.done_at` : sql`t.due_at`
  const [comparison, order] = isDone ? [sql`<`, sql`desc`] : [sql`>`, sql``]
  const about = leadId !== null || conversationId !== null
  const rows = await sql<TaskRow[]>`
    select ${taskColumns(sql)}
    from tasks t
    where t.workspace_id = ${opaqueWorkspaceId(sql, workspaceId)}
      and ${isDone ? sql`t.done_at is not null` : sql`t.done_at is null`}
      ${state === 'overdue' ? sql`and t.due_at <= ${now}` : sql``}
      ${assignedTo === null ? sql`` : sql`and (t.assigned_to = ${assignedTo} or t.assigned_to is null)`}
      ${about ? sql`and (t.lead_id = ${leadId} or t.conversation_id = ${conversationId})` : sql``}
      ${after === null ? sql`` : sql`and (${time}, t.id) ${comparison} (${after.at}::timestamptz, ${after.id}::uuid)`}
    order by ${time} ${order}, t.id ${order}
    limit ${limit + 1}`
  const tasks = rows.slice(0, limit).map((row) => decryptTask(keyring, row))
  const last = tasks.at(-1)
  const at = last && (isDone ? last.doneAt : last.dueAt)
  const hasMore = rows.length > limit && at
  return { tasks, cursor: hasMore ? encodeCursor([cursorKind(isDone), at.getTime(), last.id]) : null }
}

const cursorKind = (isDone: boolean): string => (isDone ? 'done tasks' : 'tasks')

function parseCursor(text: string, isDone: boolean): { at: Date; id: string } {
  const [kind, time, id] = decodeCursor(text) ?? []
  const isTime = Number.isSafeInteger(time) && Math.abs(Number(time)) <= 253_402_300_799_999
  if (kind !== cursorKind(isDone) || !isTime || typeof id !== 'string' || !isUuid(id)) {
    throw invalid('cursor', 'must be a cursor of this list', 'query')
  }
  return { at: new Date(Number(time)), id }
}

/** Returns the tasks of a lead for its timeline, newest first. */
export async function listTaskEntries(
  { db: { sql }, keyStore }: Pick<LeadDeps, 'db' | 'keyStore'>,
  workspaceId: string,
  leadId: string,
  { before, limit }: TimelineSlice,
): Promise<TimelineEntry[]> {
  const beforeId = idBefore(before)
  const keyring = await keyStore.keyring(workspaceId)
  const rows = await sql<TaskRow[]>`
    select ${taskColumns(sql)}
    from tasks t
    where t.workspace_id = ${opaqueWorkspaceId(sql, workspaceId)}
      and t.lead_id = ${leadId}
      ${beforeId === null ? sql`` : sql`and t.id < ${beforeId}::uuid`}
    order by t.id desc
    limit ${limit}`
  return rows.map((row) => {
    const { id, title, conversationId, dueAt, doneAt, actor } = decryptTask(keyring, row)
    const about = conversationId === null ? {} : { conversationId }
    return { ...positionOfId(id), ...about, kind: 'task', actor, text: title, task: { dueAt, doneAt } }
  })
}
