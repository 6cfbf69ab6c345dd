import type { Inbox } from './inbox.ts'
import { type ConversationList, removeRow, upsertRow } from './list-rules.ts'
import { type DeliveryStatus, isStatusAdvance } from './status-rules.ts'
import type { Conversation, ConversationFilter } from './types.ts'

/**
 * What was heard lately, and what was done here and is not answered yet. An answer that the service gave before comes
 * after such a change at times and would undo it, also where nothing was known yet that it could change: whatever is
 * read is brought up to date by this.
 */
interface LiveChanges {
  statuses: Map<string, DeliveryStatus>
  /** As each was heard of last, null when it is gone; and which hearing that was. */
  conversations: Map<string, { row: Conversation | null; sequence: number }>
  /** What each shows before the service has answered, in the order in which it was done. */
  pending: Map<string, readonly Partial<Conversation>[]>
}

// More than come while one answer is on its way.
const maxKept = 500
// By workspace. Nothing is drawn from it, and each message of a thread asks: not a part of the cache of queries.
const changesByWorkspace = new Map<string, LiveChanges>()

let sequence = 0

/** Counts on with each hearing. What is read from here on knows all that was heard before. */
export const currentSequence = (): number => sequence

export function recordStatus(inbox: Inbox, messageId: string, deliveryStatus: DeliveryStatus): void {
  const { statuses } = changesOf(inbox)
  const before = statuses.get(messageId)
  if (before === undefined || isStatusAdvance(before, deliveryStatus)) setNewest(statuses, messageId, deliveryStatus)
}

export function recordConversation(inbox: Inbox, id: string, row: Conversation | null): void {
  sequence += 1
  setNewest(changesOf(inbox).conversations, id, { row, sequence })
}

/** The conversation as it was heard of last; null when it is gone, undefined when nothing was heard of it. */
export const liveConversation = (inbox: Inbox, id: string): Conversation | null | undefined =>
  changesOf(inbox).conversations.get(id)?.row

/** Lays what was done here over whatever is heard or read, until the returned function is called. */
export function addPending(inbox: Inbox, id: string, changes: Partial<Conversation>): () => void {
  const { pending } = changesOf(inbox)
  pending.set(id, [...(pending.get(id) ?? []), changes])
  return () => {
    const others = (pending.get(id) ?? []).filter((one) => one !== changes)
    if (others.length === 0) pending.delete(id)
    else pending.set(id, others)
  }
}

export const isPending = (inbox: Inbox, id: string): boolean => changesOf(inbox).pending.has(id)

/** A message, or what a list shows of one, as far as it was heard to have got. */
export function withLiveStatus<M extends DeliveryStatus & { id: string }>(inbox: Inbox, message: M): M {
  const deliveryStatus = changesOf(inbox).statuses.get(message.id)
  return deliveryStatus !== undefined && isStatusAdvance(message, deliveryStatus)
    ? { ...message, ...deliveryStatus }
    : message
}

/** A conversation that was asked for at a moment, as it is to be shown. */
export function withLiveChanges(inbox: Inbox, row: Conversation, requestedAt: number): Conversation {
  const latest = latestVersion(inbox, row, requestedAt)
  const lastMessage = latest.lastMessage && withLiveStatus(inbox, latest.lastMessage)
  const changes = changesOf(inbox).pending.get(row.id)
  if (changes === undefined && lastMessage === latest.lastMessage) return latest
  return Object.assign({}, latest, { lastMessage }, ...(changes ?? []))
}

/**
 * A conversation as it was heard of last, unless this is newer. `updatedAt` never goes back; of two states of one time
 * the one that was asked for before the other was heard is the older.
 */
export function latestVersion(inbox: Inbox, row: Conversation, requestedAt: number): Conversation {
  const live = changesOf(inbox).conversations.get(row.id)
  if (live === undefined || live.row === null || live.row.updatedAt < row.updatedAt) return row
  return live.row.updatedAt === row.updatedAt && live.sequence <= requestedAt ? row : live.row
}

/** A list that was asked for at a moment, with what has been heard of conversations since and what was done here. */
export function listWithLiveChanges(
  inbox: Inbox,
  list: ConversationList,
  requestedAt: number,
  filter: ConversationFilter,
  userId: string,
): ConversationList {
  let now: ConversationList = { ...list, rows: list.rows.map((row) => withLiveChanges(inbox, row, requestedAt)) }
  for (const [id, { row, sequence }] of changesOf(inbox).conversations) {
    if (sequence <= requestedAt && !isPending(inbox, id)) continue
    const known = now.rows.find((one) => one.id === id)
    if (row === null) now = removeRow(now, id)
    else now = upsertRow(now, known ?? withLiveChanges(inbox, row, sequence), filter, userId)
  }
  return now
}

function changesOf({ workspaceId }: Inbox): LiveChanges {
  const known = changesByWorkspace.get(workspaceId) ?? {
    statuses: new Map(),
    conversations: new Map(),
    pending: new Map(),
  }
  changesByWorkspace.set(workspaceId, known)
  return known
}

function setNewest<V>(known: Map<string, V>, id: string, value: V): void {
  known.delete(id)
  known.set(id, value)
  const [oldest] = known.keys()
  if (known.size > maxKept && oldest !== undefined) known.delete(oldest)
}
