import type { Fragment, Sql } from '../../base/db.ts'
import { notFound } from '../../base/errors.ts'
import { type Handover, selectHandovers } from '../assignment/handovers.ts'
import type { Activity } from '../conversation/commit-change.ts'
import type { ScopedSql, WorkspaceSql } from '../conversation/conversation.ts'
import { requireConversation } from '../conversation/queries.ts'
import { decryptNote, type Note, type NoteRow, noteColumns } from '../notes/notes.ts'
import { encodeTimePosition, parseTimePosition, type TimePosition } from './list-range.ts'
import { decryptMessageView, type MessageView, type MessageViewRow, teamMessageColumns } from './read-messages.ts'

export type TimelineItem = TimePosition &
  (
    | { type: 'message'; message: MessageView }
    | { type: 'note'; note: Note }
    | { type: 'activity'; activity: Activity }
    | { type: 'handover'; handover: Handover }
  )

export interface TimelineRequest {
  limit: number
  /** A position from an earlier page, a message or `unread` to center on, or null for the newest items. */
  from: { side: 'before' | 'after'; position: TimePosition } | { messageId: string } | 'unread' | null
}

export interface TimelinePage {
  /** Oldest first. */
  items: TimelineItem[]
  /** Cursors of the adjacent pages; null if there are none. */
  older: string | null
  newer: string | null
  firstUnreadId: string | null
}

/**
 * Returns messages, notes, handovers and activities in one chronological list. Throws 404 outside the scope, and for a
 * message of another conversation.
 */
export async function readTimeline(
  reader: ScopedSql,
  id: string,
  { limit, from }: TimelineRequest,
): Promise<TimelinePage> {
  const { sql, workspaceId } = reader
  const conversation = await requireConversation(sql, reader, id)
  const read = (side: 'before' | 'after', position: TimePosition | null, requested: number) =>
    readRange(reader, conversation.id, { side, position, limit: requested })
  const unread = await findFirstUnread(sql, workspaceId, conversation.id, conversation.unread_count)
  const firstUnreadId = unread?.id ?? null
  const center = await findCenter(sql, workspaceId, conversation.id, from, unread)
  if (center !== null) {
    const position = { at: center.at, id: lowestId }
    const older = await read('before', position, Math.floor(limit / 2))
    const newer = await read('after', position, limit - older.items.length)
    const items = [...older.items, ...newer.items]
    return {
      items,
      older: older.hasMore ? writePosition(items[0]) : null,
      newer: newer.hasMore ? writePosition(items.at(-1)) : null,
      firstUnreadId,
    }
  }
  const { side, position } = isPosition(from) ? from : newest
  const { items, hasMore } = await read(side, position, limit)
  // On the side that the page was requested from, at least the item of the position exists.
  const [isOlder, isNewer] = side === 'before' ? [hasMore, position !== null] : [true, hasMore]
  return {
    items,
    older: isOlder ? writePosition(items[0] ?? position) : null,
    newer: isNewer ? writePosition(items.at(-1) ?? position) : null,
    firstUnreadId,
  }
}

const newest = { side: 'before', position: null } as const
const lowestId = '00000000-0000-0000-0000-000000000000'

const isPosition = (from: TimelineRequest['from']) => from !== null && typeof from === 'object' && 'side' in from

/** Returns the position to center the page on; null if there is none. */
async function findCenter(
  sql: Sql,
  workspaceId: string,
  conversationId: string,
  from: TimelineRequest['from'],
  unread: TimePosition | null,
): Promise<TimePosition | null> {
  if (from === 'unread') return unread
  if (from === null || !('messageId' in from)) return null
  const message = await findPosition(sql, workspaceId, conversationId, from.messageId)
  if (message === null) throw notFound('Message not found in this conversation', { code: 'NOT_FOUND' })
  return message
}

/** Returns the items next to a position on one side of it, oldest first. */
async function readRange(work: WorkspaceSql, conversationId: string, { side, position, limit }: TimelineRange) {
  const { sql, workspaceId } = work
  const range = { side, position, limit: limit + 1 }
  const [messages, notes, activities, handovers] = await Promise.all([
    selectMessages(work, conversationId, range),
    selectNotes(work, conversationId, range),
    selectActivities(sql, workspaceId, conversationId, range),
    selectHandoverRange(work, conversationId, range),
  ])
  const items: TimelineItem[] = [
    ...messages.map((message) => ({ type: 'message' as const, id: message.id, at: message.occurredAt, message })),
    ...notes.map((note) => ({ type: 'note' as const, ...positionOf(note), note })),
    ...activities.map((activity) => ({ type: 'activity' as const, ...positionOf(activity), activity })),
    ...handovers.map((handover) => ({ type: 'handover' as const, ...positionOf(handover), handover })),
  ]
  items.sort(compare)
  const shown = side === 'before' ? items.slice(-limit) : items.slice(0, limit)
  return { items: shown, hasMore: items.length > limit }
}

const positionOf = ({ id, createdAt }: { id: string; createdAt: Date }): TimePosition => ({ id, at: createdAt })

function compare(a: TimePosition, b: TimePosition): number {
  return a.at.getTime() - b.at.getTime() || (a.id < b.id ? -1 : 1)
}

function writePosition(position: TimePosition | null | undefined): string | null {
  return position == null ? null : encodeTimePosition('timeline', position)
}

/** Throws `InvalidInput` for anything but a cursor of a timeline. */
export const parsePosition = (name: string, text: string): TimePosition =>
  parseTimePosition('timeline', text, name, 'is not a cursor of a timeline')

/** Items on one side of a position, nearest first. Without a position: `before` the newest, `after` the oldest. */
interface TimelineRange {
  side: 'before' | 'after'
  position: TimePosition | null
  limit: number
}

async function selectMessages(reader: WorkspaceSql, conversationId: string, range: TimelineRange) {
  const { sql, keyring, workspaceId } = reader
  const rows = await sql<MessageViewRow[]>`
    select ${teamMessageColumns(sql, workspaceId)}
    from messages m
    where m.workspace_id = ${workspaceId}
      and m.conversation_id = ${conversationId}
      ${rangeCondition(sql, range, sql`m.occurred_at`, sql`m.id`)}`
  return rows.map((row) => decryptMessageView(keyring, row))
}

export async function selectNotes(reader: WorkspaceSql, conversationId: string, range: TimelineRange): Promise<Note[]> {
  const { sql, keyring, workspaceId } = reader
  const rows = await sql<NoteRow[]>`
    select ${noteColumns(sql, workspaceId)}
    from conversation_notes n
    where n.workspace_id = ${workspaceId}
      and n.conversation_id = ${conversationId}
      ${rangeCondition(sql, range, sql`n.created_at`, sql`n.id`)}`
  return rows.map((row) => decryptNote(keyring, row))
}

export async function selectHandoverRange(
  work: WorkspaceSql,
  conversationId: string,
  range: TimelineRange,
): Promise<Handover[]> {
  const { sql } = work
  const next = rangeCondition(sql, range, sql`h.created_at`, sql`h.id`)
  return selectHandovers(work, conversationId, next)
}

export async function selectActivities(
  sql: Sql,
  workspaceId: string,
  conversationId: string,
  range: TimelineRange,
): Promise<Activity[]> {
  return sql<Activity[]>`
    select a.id, a.detail, a.reason, json_build_object('type', a.actor_type, 'id', a.actor_id) as actor,
      a.created_at as "createdAt"
    from conversation_activities a
    where a.workspace_id = ${workspaceId}
      and a.conversation_id = ${conversationId}
      ${rangeCondition(sql, range, sql`a.created_at`, sql`a.id`)}`
}

function rangeCondition(sql: Sql, { side, position, limit }: TimelineRange, at: Fragment, id: Fragment) {
  const [comparison, order] = side === 'before' ? [sql`<`, sql`desc`] : [sql`>`, sql``]
  const isInRange =
    position === null
      ? sql``
      : sql`and (${at}, ${id}) ${comparison} (${position.at}::timestamptz, ${position.id}::uuid)`
  return sql`
    ${isInRange}
    order by ${at} ${order}, ${id} ${order}
    limit ${limit}`
}

/** Returns the oldest of the newest `unreadCount` customer messages. */
async function findFirstUnread(sql: Sql, workspaceId: string, conversationId: string, unreadCount: number) {
  if (unreadCount === 0) return null
  const [row] = await sql<{ id: string; occurred_at: Date }[]>`
    select m.id, m.occurred_at
    from (
      select id, occurred_at
      from messages
      where workspace_id = ${workspaceId}
        and conversation_id = ${conversationId}
        and direction = 'inbound'
        and origin = 'live'
        and kind <> 'system'
      order by occurred_at desc
      limit ${unreadCount}
    ) m
    order by m.occurred_at
    limit 1`
  return row === undefined ? null : { id: row.id, at: row.occurred_at }
}

/** Returns the position of a message or note of the conversation; null if there is none. */
async function findPosition(sql: Sql, workspaceId: string, conversationId: string, id: string) {
  const [row] = await sql<{ at: Date }[]>`
    select occurred_at as at
    from messages
    where workspace_id = ${workspaceId}
      and id = ${id}
      and conversation_id = ${conversationId}
    union all
    select created_at
    from conversation_notes
    where workspace_id = ${workspaceId}
      and id = ${id}
      and conversation_id = ${conversationId}`
  return row === undefined ? null : { id, at: row.at }
}
