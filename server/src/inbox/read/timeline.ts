import { decodeCursor, encodeCursor } from '../../base/cursor.ts'
import type { Sql } from '../../base/db.ts'
import { invalid, notFound } from '../../base/errors.ts'
import { isUuid } from '../../base/id.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import type { Activity } from '../conversation/activity.ts'
import type { Scope } from '../conversation/conversation.ts'
import { conversationNotFound } from '../conversation/errors.ts'
import { findConversation } from '../conversation/queries.ts'
import type { Note } from '../notes/notes.ts'
import type { Handover } from '../ownership/handovers.ts'
import type { ShownMessage } from './shown-message.ts'
import {
  findFirstUnread,
  findPosition,
  type Stretch,
  selectStretchOfActivities,
  selectStretchOfHandovers,
  selectStretchOfMessages,
  selectStretchOfNotes,
  type TimelinePosition,
} from './timeline-queries.ts'

export type TimelineItem = TimelinePosition &
  (
    | { type: 'message'; message: ShownMessage }
    | { type: 'note'; note: Note }
    | { type: 'activity'; activity: Activity }
    | { type: 'handover'; handover: Handover }
  )

export interface TimelineRequest {
  limit: number
  /** A position that a page before gave, a message or `unread` for around it or the first unread one, null for the newest. */
  from: { side: 'before' | 'after'; position: TimelinePosition } | { messageId: string } | 'unread' | null
}

export interface TimelinePage {
  /** Oldest first. */
  items: TimelineItem[]
  /** What goes on with older and with newer ones; null where there are none. */
  older: string | null
  newer: string | null
  firstUnreadId: string | null
}

/**
 * Messages, notes, hand-overs and what happened, in one order of time. Throws 404 outside the scope, and for a message of
 * another one.
 */
export async function readTimeline(
  sql: Sql,
  keyring: Keyring,
  scope: Scope,
  id: string,
  { limit, from }: TimelineRequest,
): Promise<TimelinePage> {
  const conversation = await findConversation(sql, scope, id)
  if (conversation === undefined) throw conversationNotFound()
  const { workspaceId } = scope
  const read = (side: 'before' | 'after', position: TimelinePosition | null, wanted: number) =>
    readStretch(sql, keyring, workspaceId, conversation.id, { side, position, limit: wanted })
  const unread = await findFirstUnread(sql, workspaceId, conversation.id, conversation.unread_count)
  const firstUnreadId = unread?.id ?? null
  const middle = await middleOf(sql, workspaceId, conversation.id, from, unread)
  if (middle !== null) {
    const position = { at: middle.at, id: lowestId }
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
  const { side, position } = isPlace(from) ? from : newest
  const { items, hasMore } = await read(side, position, limit)
  // On the side that a position was reached from there is at least what it was taken from.
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

const isPlace = (from: TimelineRequest['from']) => from !== null && typeof from === 'object' && 'side' in from

/** What a page is to be read around; null when it is not. */
async function middleOf(
  sql: Sql,
  workspaceId: string,
  conversationId: string,
  from: TimelineRequest['from'],
  unread: TimelinePosition | null,
): Promise<TimelinePosition | null> {
  if (from === 'unread') return unread
  if (from === null || !('messageId' in from)) return null
  const message = await findPosition(sql, workspaceId, conversationId, from.messageId)
  if (message === null) throw notFound('Message not found in this conversation', { code: 'NOT_FOUND' })
  return message
}

/** The items next to a position on one side of it, oldest first. */
async function readStretch(
  sql: Sql,
  keyring: Keyring,
  workspaceId: string,
  conversationId: string,
  { side, position, limit }: Stretch,
): Promise<{ items: TimelineItem[]; hasMore: boolean }> {
  const stretch = { side, position, limit: limit + 1 }
  const [messages, notes, activities, handovers] = await Promise.all([
    selectStretchOfMessages(sql, keyring, workspaceId, conversationId, stretch),
    selectStretchOfNotes(sql, keyring, workspaceId, conversationId, stretch),
    selectStretchOfActivities(sql, workspaceId, conversationId, stretch),
    selectStretchOfHandovers(sql, keyring, workspaceId, conversationId, stretch),
  ])
  const items: TimelineItem[] = [
    ...messages.map((message) => ({ type: 'message' as const, id: message.id, at: message.occurredAt, message })),
    ...notes.map((note) => ({ type: 'note' as const, id: note.id, at: note.createdAt, note })),
    ...activities.map((activity) => ({
      type: 'activity' as const,
      id: activity.id,
      at: activity.createdAt,
      activity,
    })),
    ...handovers.map((handover) => ({
      type: 'handover' as const,
      id: handover.id,
      at: handover.createdAt,
      handover,
    })),
  ]
  items.sort(compare)
  const shown = side === 'before' ? items.slice(-limit) : items.slice(0, limit)
  return { items: shown, hasMore: items.length > limit }
}

function compare(a: TimelinePosition, b: TimelinePosition): number {
  return a.at.getTime() - b.at.getTime() || (a.id < b.id ? -1 : 1)
}

function writePosition(position: TimelinePosition | null | undefined): string | null {
  return position == null ? null : encodeCursor(['timeline', position.at.getTime(), position.id])
}

/** Throws `InvalidInput` for what no page has given. */
export function readPosition(name: string, text: string): TimelinePosition {
  const [kind, time, id, extra] = decodeCursor(text) ?? []
  const isTime = Number.isSafeInteger(time) && Math.abs(Number(time)) <= 253_402_300_799_999
  if (kind !== 'timeline' || !isTime || typeof id !== 'string' || !isUuid(id) || extra !== undefined) {
    throw invalid(name, 'is not a cursor of a timeline', 'query')
  }
  return { at: new Date(Number(time)), id }
}
