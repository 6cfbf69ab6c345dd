import { currentUser } from '../../session/session.ts'
import type { Inbox } from './inbox.ts'
import { type ConversationList, removeRow, upsertRow } from './list-rules.ts'
import {
  addPending,
  currentSequence,
  isPending,
  latestVersion,
  liveConversation,
  recordConversation,
  withLiveChanges,
} from './live-changes.ts'
import type { Thread } from './thread-rules.ts'
import type { Conversation, ConversationFilter, Lead, Message, Note } from './types.ts'

export interface Detail {
  conversation: Conversation
  /** Null until loaded. */
  notes: Note[] | null
  lead: Lead | null
  /** Null until loaded. */
  firstContactAt: string | null
  /** Ad that the customer came from last, at any time. */
  referral: Message['referral']
}

export const inboxKey = (workspaceId: string) => [workspaceId, 'inbox'] as const
export const threadsKey = (workspaceId: string) => [workspaceId, 'inbox', 'thread'] as const
export const listsKey = (workspaceId: string) => [workspaceId, 'inbox', 'list'] as const
export const listKey = (workspaceId: string, filter: ConversationFilter) => [...listsKey(workspaceId), filter] as const
export const detailsKey = (workspaceId: string) => [workspaceId, 'inbox', 'conversation'] as const
export const detailKey = (workspaceId: string, id: string) => [...detailsKey(workspaceId), id] as const
export const threadKey = (workspaceId: string, id: string) => [...threadsKey(workspaceId), id] as const
export const peopleKey = (workspaceId: string, id: string) => [workspaceId, 'inbox', 'people', id] as const
/** Files of a conversation by kind. */
export const galleriesKey = (workspaceId: string, id: string) => [workspaceId, 'inbox', 'gallery', id] as const
export const conversationsWithKey = (workspaceId: string, phone: string) =>
  [workspaceId, 'inbox', 'with', phone] as const
export const countsKey = (workspaceId: string) => [workspaceId, 'inbox', 'counts'] as const
export const mentionsKey = (workspaceId: string) => [workspaceId, 'inbox', 'mentions'] as const
export const unreadMentionsKey = (workspaceId: string) => [workspaceId, 'inbox', 'unread mentions'] as const
export const outboxKey = (workspaceId: string, id: string) => [workspaceId, 'inbox', 'outbox', id] as const

/**
 * Updates a conversation wherever it is shown. A response may arrive after the event of a later change: versions older
 * than the known one are ignored.
 */
export function cacheConversation(inbox: Inbox, row: Conversation, requestedAt?: number): void {
  recordCached(inbox, row.id)
  if (latestVersion(inbox, row, requestedAt ?? currentSequence()) === row) recordConversation(inbox, row.id, row)
  showConversation(inbox, row.id)
}

/**
 * Shows a change optimistically. Responses and events before the server's answer may not contain it and do not undo it.
 * Call the returned function with the response, or without one to revert.
 */
export function showPending(
  inbox: Inbox,
  id: string,
  changes: Partial<Conversation>,
): (response: Conversation | null) => void {
  recordCached(inbox, id)
  const end = addPending(inbox, id, changes)
  showConversation(inbox, id)
  return (response) => {
    if (response !== null) cacheConversation(inbox, response)
    end()
    showConversation(inbox, id)
  }
}

// Loaded data is as good as an event, unless an unconfirmed change covers it.
function recordCached(inbox: Inbox, id: string): void {
  if (isPending(inbox, id)) return
  const known = cachedConversation(inbox, id)
  const live = liveConversation(inbox, id)
  if (known === undefined || known === live || live === null) return
  if (live === undefined || live.updatedAt <= known.updatedAt) recordConversation(inbox, id, known)
}

/** Updates the last message of a conversation to the newest status received. */
export function refreshLastStatus(inbox: Inbox, id: string): void {
  recordCached(inbox, id)
  showConversation(inbox, id)
}

function showConversation(inbox: Inbox, id: string): void {
  const { queries, workspaceId } = inbox
  const live = liveConversation(inbox, id)
  if (live == null) return
  const row = withLiveChanges(inbox, live, currentSequence())
  const userId = currentUser().id
  for (const { queryKey, state } of queries.getQueryCache().findAll({ queryKey: listsKey(workspaceId) })) {
    const list = state.data as ConversationList | undefined
    const next = list && upsertRow(list, row, queryKey.at(-1) as ConversationFilter, userId)
    if (next !== list) queries.setQueryData(queryKey, next)
  }
  queries.setQueryData<Detail>(detailKey(workspaceId, row.id), (before) => before && { ...before, conversation: row })
  const { phone } = row.contact
  if (phone === null) return
  queries.setQueryData<Conversation[]>(conversationsWithKey(workspaceId, phone), (rows) => rows && withRow(rows, row))
}

const withRow = (rows: readonly Conversation[], row: Conversation): Conversation[] =>
  rows.some(({ id }) => id === row.id) ? rows.map((one) => (one.id === row.id ? row : one)) : [row, ...rows]

export function removeConversation(inbox: Inbox, id: string): void {
  const { queries, workspaceId } = inbox
  recordConversation(inbox, id, null)
  queries.setQueriesData<ConversationList>({ queryKey: listsKey(workspaceId) }, (list) => list && removeRow(list, id))
  queries.removeQueries({ queryKey: threadKey(workspaceId, id), type: 'inactive' })
}

/** Returns the conversation from the cache of a list or of an earlier visit. */
export function cachedConversation({ queries, workspaceId }: Inbox, id: string): Conversation | undefined {
  const detail = queries.getQueryData<Detail>(detailKey(workspaceId, id))
  if (detail !== undefined) return detail.conversation
  const lists = queries.getQueriesData<ConversationList>({ queryKey: listsKey(workspaceId) })
  for (const [, list] of lists) {
    const found = list?.rows.find((row) => row.id === id)
    if (found !== undefined) return found
  }
  return undefined
}

export function changeThread({ queries, workspaceId }: Inbox, id: string, change: (thread: Thread) => Thread): void {
  queries.setQueryData<Thread>(threadKey(workspaceId, id), (thread) => thread && change(thread))
}
