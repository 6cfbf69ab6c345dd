import { decodeCursor, encodeCursor } from '../base/cursor.ts'
import type { Fragment, Sql, Tx } from '../base/db.ts'
import { invalid } from '../base/errors.ts'
import { isUuid } from '../base/id.ts'
import type { NotificationKind } from './notification-kinds.ts'
import { publishNotifications } from './record-notifications.ts'

export interface Notification {
  id: string
  kind: NotificationKind
  conversationId: string | null
  connectionId: string | null
  /** Problem of a connection; null if it is down. */
  reason: string | null
  count: number
  actorType: 'agent' | 'user' | 'token' | null
  actorId: string | null
  createdAt: Date
  readAt: Date | null
}

export const notificationColumns = (sql: Sql) => sql`
  n.id,
  n.kind,
  n.conversation_id as "conversationId",
  n.connection_id as "connectionId",
  n.reason,
  n.count,
  n.actor_type as "actorType",
  n.actor_id as "actorId",
  n.created_at as "createdAt",
  n.read_at as "readAt"`

/** Lists a person's notifications, newest first. */
export async function listNotifications(
  sql: Sql,
  workspaceId: string,
  userId: string,
  { limit, unreadOnly, cursor }: { limit: number; unreadOnly: boolean; cursor: string | null },
): Promise<{ notifications: Notification[]; cursor: string | null }> {
  const after = cursor === null ? null : parseCursor(cursor)
  const rows = await sql<Notification[]>`
    select ${notificationColumns(sql)}
    from notices n
    where n.workspace_id = ${workspaceId}
      and n.user_id = ${userId}
      ${unreadOnly ? sql`and n.read_at is null` : sql``}
      ${after === null ? sql`` : sql`and (n.created_at, n.id) < (${after.at}::timestamptz, ${after.id}::uuid)`}
    order by n.created_at desc, n.id desc
    limit ${limit + 1}`
  const notifications = rows.slice(0, limit)
  const last = notifications.at(-1)
  const hasMore = last !== undefined && rows.length > limit
  return { notifications, cursor: hasMore ? encodeCursor(['notices', last.createdAt.getTime(), last.id]) : null }
}

function parseCursor(text: string): { at: Date; id: string } {
  const [kind, time, id] = decodeCursor(text) ?? []
  const isTime = Number.isSafeInteger(time) && Math.abs(Number(time)) <= 253_402_300_799_999
  if (kind !== 'notices' || !isTime || typeof id !== 'string' || !isUuid(id)) {
    throw invalid('cursor', 'must be a cursor of this list', 'query')
  }
  return { at: new Date(Number(time)), id }
}

export async function countUnreadNotifications(sql: Sql, workspaceId: string, userId: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::integer as count
    from notices
    where workspace_id = ${workspaceId}
      and user_id = ${userId}
      and read_at is null`
  return row?.count ?? 0
}

/** Selects notifications by id, by conversation, or all. */
interface NotificationSelection {
  ids?: readonly string[]
  conversationId?: string
  kind?: NotificationKind
}

/** Marks notifications as read on all pages of the person. Returns the ids of notes with mentions among them. */
export async function markNotificationsRead(
  tx: Tx,
  workspaceId: string,
  userId: string,
  { ids, conversationId, kind }: NotificationSelection,
  now: Date,
): Promise<string[]> {
  const selected = tx`
      user_id = ${userId}
      ${ids === undefined ? tx`` : tx`and id = any (${[...ids]}::uuid[])`}
      ${conversationId === undefined ? tx`` : tx`and conversation_id = ${conversationId}`}
      ${kind === undefined ? tx`` : tx`and kind = ${kind}`}`
  const read = await markRead(tx, workspaceId, selected, now)
  return read.flatMap((one) => (one.kind === 'mention' ? [one.cause] : []))
}

/** Marks unread notifications as read, and publishes that to their people. */
async function markRead(tx: Tx, workspaceId: string, selected: Fragment, now: Date) {
  const read = await tx<{ userId: string; kind: NotificationKind; cause: string }[]>`
    update notices
    set read_at = ${now},
      push_at = null,
      mail_at = null
    where workspace_id = ${workspaceId}
      and read_at is null
      and ${selected}
    returning user_id as "userId", kind, cause`
  for (const userId of new Set(read.map((one) => one.userId))) publishNotifications(tx, workspaceId, userId)
  return read
}

/** Moves notifications of a merged conversation to the remaining one. */
export async function moveNotifications(tx: Tx, workspaceId: string, fromId: string, toId: string): Promise<void> {
  await tx`
    update notices
    set conversation_id = ${toId}
    where workspace_id = ${workspaceId}
      and conversation_id = ${fromId}`
}

/** Marks waiting reminders of these conversations as read, because they were answered. */
export async function markWaitingRead(
  tx: Tx,
  workspaceId: string,
  conversationIds: readonly string[],
  now: Date,
): Promise<void> {
  await markRead(tx, workspaceId, tx`conversation_id = any (${[...conversationIds]}::uuid[]) and kind = 'waiting'`, now)
}
