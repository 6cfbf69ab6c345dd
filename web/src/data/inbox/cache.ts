import { me } from '../../session/session.ts'
import { hearConversation, newer, rowAsHeard } from './heard-changes.ts'
import type { Inbox } from './inbox.ts'
import { type ConversationList, dropRow, placeRow } from './list-rules.ts'
import type { Thread } from './thread-rules.ts'
import type { Conversation, ConversationFilter, Lead, Message, Note } from './types.ts'

export interface Detail {
  conversation: Conversation
  /** Null until the service has told. */
  notes: Note[] | null
  lead: Lead | null
  /** The ad that they came by last, however far back. */
  referral: Message['referral']
}

export const inboxKey = (workspaceId: string) => [workspaceId, 'inbox'] as const
export const threadsKey = (workspaceId: string) => [workspaceId, 'inbox', 'thread'] as const
export const listsKey = (workspaceId: string) => [workspaceId, 'inbox', 'list'] as const
export const listKey = (workspaceId: string, filter: ConversationFilter) => [...listsKey(workspaceId), filter] as const
export const detailKey = (workspaceId: string, id: string) => [workspaceId, 'inbox', 'conversation', id] as const
export const threadKey = (workspaceId: string, id: string) => [...threadsKey(workspaceId), id] as const
export const peopleKey = (workspaceId: string, id: string) => [workspaceId, 'inbox', 'people', id] as const
/** Every conversation with a number. */
export const withKey = (workspaceId: string, phone: string) => [workspaceId, 'inbox', 'with', phone] as const
export const countsKey = (workspaceId: string) => [workspaceId, 'inbox', 'counts'] as const
export const outboxKey = (workspaceId: string, id: string) => [workspaceId, 'inbox', 'outbox', id] as const

/**
 * Puts a conversation as it is now wherever it is shown. The answer to a change may come after the news of a later one:
 * what is older than what is known is passed over.
 */
export function keepConversation(inbox: Inbox, told: Conversation): void {
  const { queries, workspaceId } = inbox
  const known = knownConversation(inbox, told.id)
  if (known !== undefined && newer(known, told) !== told) return
  const row = rowAsHeard(inbox, told)
  hearConversation(inbox, row.id, row)
  const userId = me().id
  for (const { queryKey, state } of queries.getQueryCache().findAll({ queryKey: listsKey(workspaceId) })) {
    const list = state.data as ConversationList | undefined
    const next = list && placeRow(list, row, queryKey.at(-1) as ConversationFilter, userId)
    if (next !== list) queries.setQueryData(queryKey, next)
  }
  queries.setQueryData<Detail>(detailKey(workspaceId, row.id), (before) => before && { ...before, conversation: row })
  const { phone } = row.contact
  if (phone === null) return
  queries.setQueryData<Conversation[]>(withKey(workspaceId, phone), (rows) => rows && withRow(rows, row))
}

const withRow = (rows: readonly Conversation[], row: Conversation): Conversation[] =>
  rows.some(({ id }) => id === row.id) ? rows.map((one) => (one.id === row.id ? row : one)) : [row, ...rows]

export function dropConversation(inbox: Inbox, id: string): void {
  const { queries, workspaceId } = inbox
  hearConversation(inbox, id, null)
  queries.setQueriesData<ConversationList>({ queryKey: listsKey(workspaceId) }, (list) => list && dropRow(list, id))
  queries.removeQueries({ queryKey: threadKey(workspaceId, id), type: 'inactive' })
}

/** The conversation as some list or an earlier visit knows it. */
export function knownConversation({ queries, workspaceId }: Inbox, id: string): Conversation | undefined {
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
