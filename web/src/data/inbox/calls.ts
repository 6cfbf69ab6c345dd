import { api, unwrap } from '../../api/client.ts'
import type { ConsentDecision, ConsentPurpose } from '../lead/consents.ts'
import type { ConversationList } from './list-rules.ts'
import type { Thread } from './thread-rules.ts'
import type {
  BulkChanges,
  ConversationFilter,
  Media,
  Person,
  PreviousState,
  Priority,
  ReactionToSend,
  Reply,
  Status,
} from './types.ts'

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
    ...filter,
    view,
    limit: cursor === null ? firstPage : nextPage,
    ...(status === 'any' ? {} : { status }),
    ...(unread === true ? { unread } : {}),
    ...(unanswered === true ? { unanswered } : {}),
    ...(overdue === true ? { overdue } : {}),
    ...(cursor === null ? {} : { cursor }),
  }
  const page = await unwrap(api.GET(`${inboxPath}/conversations`, { params: { path: { workspaceId }, query } }))
  return { rows: page.conversations, cursor: page.cursor }
}

/** Finds conversations by text, whatever their state. */
export async function findConversations(workspaceId: string, search: string, limit: number) {
  const query = { search, limit, view: 'all' as const }
  return (await unwrap(api.GET(`${inboxPath}/conversations`, { params: { path: { workspaceId }, query } })))
    .conversations
}

/** Lists conversations changed since a time, latest change first. */
export async function listChanged(workspaceId: string, updatedAfter: string, limit: number) {
  const query = { updatedAfter, limit, sort: 'updated' as const }
  return unwrap(api.GET(`${inboxPath}/conversations`, { params: { path: { workspaceId }, query } }))
}

const foundPage = 20

export function searchMessages(workspaceId: string, search: string, cursor: string, signal: AbortSignal) {
  const query = { search, limit: foundPage, ...(cursor === '' ? {} : { cursor }) }
  return unwrap(api.GET(`${inboxPath}/messages`, { params: { path: { workspaceId }, query }, signal }))
}

export const readConversation = (workspaceId: string, id: string) =>
  unwrap(api.GET(conversationPath, { params: { path: { workspaceId, id } } }))

export async function readCounts(workspaceId: string) {
  return (await unwrap(api.GET(`${inboxPath}/counts`, { params: { path: { workspaceId } } }))).counts
}

export type ThreadPage =
  | { around: 'unread' }
  | { aroundMessage: string; limit?: number }
  | { before: string }
  | { after: string }
  | { limit: number }

let requestCount = 0

export async function readThread(workspaceId: string, id: string, query: ThreadPage): Promise<Thread> {
  const requestNumber = ++requestCount
  const page = await unwrap(api.GET(`${conversationPath}/timeline`, { params: { path: { workspaceId, id }, query } }))
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

export async function changeConversation(workspaceId: string, id: string, changes: Changes) {
  return (await unwrap(api.PATCH(conversationPath, { params: { path: { workspaceId, id } }, body: changes })))
    .conversation
}

export async function takeOver(workspaceId: string, id: string) {
  return (await unwrap(api.POST(`${conversationPath}/take-over`, { params: { path: { workspaceId, id } } })))
    .conversation
}

/** Records what the customer has decided, or takes back the member's last record. */
export async function setConsent(
  workspaceId: string,
  id: string,
  decision: ConsentDecision | 'undo',
  purpose: ConsentPurpose,
) {
  const consentPath = `${conversationPath}/marketing-consent` as const
  const params = { path: { workspaceId, id } }
  const answer =
    decision === 'undo'
      ? api.DELETE(consentPath, { params: { ...params, query: { purpose } } })
      : api.PUT(consentPath, { params, body: { decision, purpose } })
  return (await unwrap(answer)).conversation
}

export interface HandoverNote {
  summary: string
  reason?: string
  nextStep?: string
}

export interface HandBack {
  keyId: string
  note?: HandoverNote
}

export async function handBack(workspaceId: string, id: string, to: HandBack) {
  return (await unwrap(api.POST(`${conversationPath}/hand-back`, { params: { path: { workspaceId, id } }, body: to })))
    .conversation
}

export async function postOffer(workspaceId: string, id: string, note: { note?: HandoverNote }) {
  return (await unwrap(api.POST(`${conversationPath}/offer`, { params: { path: { workspaceId, id } }, body: note })))
    .conversation
}

export function postNote(workspaceId: string, id: string, note: { text: string; mentions: string[] }, key: string) {
  const headers = { 'idempotency-key': key }
  return unwrap(api.POST(`${conversationPath}/notes`, { params: { path: { workspaceId, id } }, headers, body: note }))
}

export async function postRead(workspaceId: string, id: string) {
  return (await unwrap(api.POST(`${conversationPath}/read`, { params: { path: { workspaceId, id } } }))).conversation
}

export async function postUnread(workspaceId: string, id: string) {
  return (await unwrap(api.POST(`${conversationPath}/unread`, { params: { path: { workspaceId, id } } }))).conversation
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
  const confirmation = isOverBudget ? { over_budget: true } : {}
  const headers = { 'idempotency-key': key }
  return unwrap(
    api.POST(`${conversationPath}/messages`, {
      params: { path: { workspaceId, id } },
      headers,
      body: { ...reply, ...staleCheck, ...confirmation },
    }),
  )
}

export async function postPresence(
  workspaceId: string,
  id: string,
  state: Person['state'] | 'gone',
  toCustomer: boolean,
): Promise<Person[]> {
  const call = { params: { path: { workspaceId, id } }, body: { state, ...(toCustomer && { toCustomer }) } }
  // Completes even if the page is being closed.
  return (await unwrap(api.POST(`${conversationPath}/presence`, { ...call, keepalive: true }))).people
}

export async function bulkUpdate(
  workspaceId: string,
  change: { batchId: string; ids: string[]; changes: BulkChanges },
) {
  return unwrap(api.POST(`${inboxPath}/conversations/bulk`, { params: { path: { workspaceId } }, body: change }))
}

export async function bulkUndo(
  workspaceId: string,
  undo: { batchId: string; changes: BulkChanges; former: PreviousState[] },
) {
  return unwrap(api.POST(`${inboxPath}/conversations/bulk-undo`, { params: { path: { workspaceId } }, body: undo }))
}

export function readMentions(workspaceId: string, query: { limit: number; unread?: true; cursor?: string }) {
  return unwrap(api.GET(`${inboxPath}/mentions`, { params: { path: { workspaceId }, query } }))
}

export async function markMentionsRead(workspaceId: string, conversationId: string | null): Promise<number> {
  const which = conversationId === null ? {} : { conversationId }
  return (await unwrap(api.POST(`${inboxPath}/mentions/read`, { params: { path: { workspaceId } }, body: which })))
    .unread
}

const galleryPage = 30

export function readGallery(workspaceId: string, id: string, kinds: readonly Media['kind'][], cursor: string) {
  const query = { kinds: kinds.join(','), limit: galleryPage, ...(cursor === '' ? {} : { cursor }) }
  return unwrap(api.GET(`${conversationPath}/media`, { params: { path: { workspaceId, id }, query } }))
}

export async function retryFile(workspaceId: string, mediaId: string): Promise<Media['state']> {
  return (await unwrap(api.POST(`${inboxPath}/media/{mediaId}/retry`, { params: { path: { workspaceId, mediaId } } })))
    .state
}
