import { api, type Schemas } from '../../api/client.ts'
import type { ConversationList } from './list-rules.ts'
import type { Thread } from './thread-rules.ts'
import type { ConversationFilter, Priority, ReactionToSend, Reply, Status } from './types.ts'

const inboxPath = '/api/team/v1/workspaces/{workspaceId}/inbox' as const
const conversationPath = `${inboxPath}/conversations/{id}` as const
// A small first page loads quickly; further pages are larger.
const [firstPage, nextPage] = [40, 100]

export async function listPage(
  workspaceId: string,
  { status, view, unread, unanswered, overdue, ...filter }: ConversationFilter,
  cursor: string | null,
): Promise<ConversationList> {
  const query = {
    ...{ ...filter, view, cursor },
    limit: cursor === null ? firstPage : nextPage,
    status: status === 'any' ? null : status,
    unread: unread || null,
    unanswered: unanswered || null,
    overdue: overdue || null,
  }
  const page = await api.GET(`${inboxPath}/conversations`, { workspaceId, query })
  return { rows: page.conversations, cursor: page.cursor }
}

/** Finds conversations by text, whatever their state. */
export async function findConversations(workspaceId: string, search: string, limit: number) {
  const query = { search, limit, view: 'all' as const }
  return (await api.GET(`${inboxPath}/conversations`, { workspaceId, query })).conversations
}

/** Lists conversations changed since a time, latest change first. */
export async function listChanged(workspaceId: string, updatedAfter: string, limit: number) {
  const query = { updatedAfter, limit, sort: 'updated' as const }
  return api.GET(`${inboxPath}/conversations`, { workspaceId, query })
}

export const readConversation = (workspaceId: string, id: string) => api.GET(conversationPath, { workspaceId, id })

export const readCounts = async (workspaceId: string) => (await api.GET(`${inboxPath}/counts`, { workspaceId })).counts

export type ThreadPage =
  | { around: 'unread' }
  | { aroundMessage: string; limit?: number }
  | { before: string }
  | { after: string }
  | { limit: number }

let requestCount = 0

export async function readThread(workspaceId: string, id: string, query: ThreadPage): Promise<Thread> {
  const requestNumber = ++requestCount
  const page = await api.GET(`${conversationPath}/timeline`, { workspaceId, id, query })
  return { ...page, requestNumber }
}

export interface Changes {
  /** Null: none. */
  priority?: Priority | null
  status?: Status
  snoozedUntil?: string | null
  assignedTo?: string | null
  teamId?: string | null
  labelIds?: string[]
}

export type HandoverNote = Schemas['HandoverNote']

export interface HandBack {
  keyId: string
  note?: HandoverNote
}

export interface SendOptions {
  /** Idempotency key. */
  key: string
  /** Sends only if this is still the last message (otherwise 409 `THREAD_MOVED`); null for no check. */
  ifLastMessageId: string | null
  /** Sends although a budget is used up (otherwise 409 `BUDGET_REACHED`). */
  isOverBudget?: boolean
}

export function send(
  workspaceId: string,
  id: string,
  reply: Reply | ReactionToSend,
  { key, ifLastMessageId, isOverBudget = false }: SendOptions,
) {
  const staleCheck = ifLastMessageId === null ? {} : { if_last_message_id: ifLastMessageId }
  const body = { ...reply, ...staleCheck, ...(isOverBudget && { over_budget: true }) }
  return api.POST(`${conversationPath}/messages`, { workspaceId, id, headers: { 'idempotency-key': key }, body })
}
