import type { Inbox } from './inbox.ts'
import { type ConversationList, removeRow, upsertRow } from './list-rules.ts'
import { type DeliveryStatus, isStatusAdvance } from './status-rules.ts'
import type { Conversation, ConversationFilter } from './types.ts'

/**
 * Recent events and unconfirmed changes of this browser. A response that the server sent before such a change may
 * arrive after it and would undo it, even where nothing was cached yet; so every response is updated from here.
 */
interface LiveChanges {
  statuses: Map<string, DeliveryStatus>
  /** Latest version of each from events, null if removed; and the sequence number of the event. */
  conversations: Map<string, { row: Conversation | null; sequence: number }>
  /** Unconfirmed changes of each conversation, in the order in which they were made. */
  pending: Map<string, readonly Partial<Conversation>[]>
}

// More than arrive while a response is under way.
const maxEntries = 500
// By workspace. Outside the query cache, since nothing is rendered from it and every message of a thread looks it up.
const changesByWorkspace = new Map<string, LiveChanges>()

let sequence = 0

/** Increases with each event. A request that starts now includes everything received before. */
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

/** Returns the latest version of the conversation from events; null if removed, undefined if there was no event. */
export const liveConversation = (inbox: Inbox, id: string): Conversation | null | undefined =>
  changesOf(inbox).conversations.get(id)?.row

/** Applies a change over everything received or loaded, until the returned function is called. */
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

/** Returns a message, or its summary in a list, with the newest status received. */
export function withLiveStatus<M extends DeliveryStatus & { id: string }>(inbox: Inbox, message: M): M {
  const deliveryStatus = changesOf(inbox).statuses.get(message.id)
  return deliveryStatus !== undefined && isStatusAdvance(message, deliveryStatus)
    ? { ...message, ...deliveryStatus }
    : message
}

/** Returns a conversation from a response, updated with events and unconfirmed changes since the request. */
export function withLiveChanges(inbox: Inbox, row: Conversation, requestedAt: number): Conversation {
  const latest = latestVersion(inbox, row, requestedAt)
  const lastMessage = latest.lastMessage && withLiveStatus(inbox, latest.lastMessage)
  const changes = changesOf(inbox).pending.get(row.id)
  if (changes === undefined && lastMessage === latest.lastMessage) return latest
  return Object.assign({}, latest, { lastMessage }, ...(changes ?? []))
}

/**
 * Returns the newer of the response and the latest event. `updatedAt` never decreases; if it is equal, a response that
 * was requested before the event arrived is the older one.
 */
export function latestVersion(inbox: Inbox, row: Conversation, requestedAt: number): Conversation {
  const live = changesOf(inbox).conversations.get(row.id)
  if (live === undefined || live.row === null || live.row.updatedAt < row.updatedAt) return row
  return live.row.updatedAt === row.updatedAt && live.sequence <= requestedAt ? row : live.row
}

/** Returns a list from a response, updated with events and unconfirmed changes since the request. */
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
  if (known.size > maxEntries && oldest !== undefined) known.delete(oldest)
}
