import { notifyManager, useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useRef } from 'react'
import { type LiveEvent, type LiveState, useLive, useLiveState } from '../../api/live.ts'
import { refetchQueries, restartQueries } from '../../api/refetch.ts'
import { throttle, throttleBatches } from '../../api/throttle.ts'
import { refetchNotifications } from '../notifications.ts'
import { hasDraft, refetchDrafts } from './agent-drafts.ts'
import {
  cacheConversation,
  cachedConversation,
  changeThread,
  countsKey,
  type Detail,
  detailKey,
  detailsKey,
  inboxKey,
  listsKey,
  peopleKey,
  refreshLastStatus,
  removeConversation,
  threadKey,
  threadsKey,
  unreadMentionsKey,
} from './cache.ts'
import { listChanged } from './calls.ts'
import { refetchMessage, updateFileState } from './files.ts'
import type { Inbox } from './inbox.ts'
import type { ConversationList } from './list-rules.ts'
import { currentSequence, recordStatus, withLiveStatus } from './live-changes.ts'
import { setUnreadMentions } from './mentions.ts'
import { refreshThread } from './outbox.ts'
import { type ChangedLead, createRecentLeads, isAnyRenamed } from './recipient-rules.ts'
import type { DeliveryStatus } from './status-rules.ts'
import { mapMessages, type Thread } from './thread-rules.ts'
import type { Conversation, Media, Message, Person } from './types.ts'

const leadEvents = ['lead.created', 'lead.updated', 'lead.deleted', 'lead.restored']
const eventNames = [
  'team.conversation.changed',
  'team.conversation.gone',
  'team.conversations.changed',
  'team.media.changed',
  'team.presence',
  'team.mentions',
  'inbox.message.sent',
  'inbox.message.status',
  'inbox.draft.proposed',
  'inbox.draft.decided',
  ...leadEvents,
]
const maxRefetchedRows = 100
const countsIntervalMs = 1000
// Such events come many times a second in busy moments, and each page makes a few requests for one.
const inboxIntervalMs = 250
// Faster updates cannot be read.
const rowsIntervalMs = 100
// An import creates thousands of leads.
const leadsIntervalMs = 250
// Images arrive by the dozen.
const filesIntervalMs = 250
// Minimum size of the newest page of a thread.
const newestPageSize = 40
const silenceMs = 60_000

/** Keeps the inbox data fresh while the app is open, on any page. */
export function useLiveInbox(workspaceId: string): void {
  const queries = useQueryClient()
  const inbox = useMemo(() => ({ queries, workspaceId }), [queries, workspaceId])
  const handleEvent = useMemo(() => createEventHandler(inbox), [inbox])
  useLive(eventNames, handleEvent)
  useCatchUp(inbox)
}

export function createEventHandler(inbox: Inbox): (event: LiveEvent) => void {
  const counts = throttle(countsIntervalMs, () => refetchQueries(inbox.queries, countsKey(inbox.workspaceId)))
  const all = throttle(inboxIntervalMs, () => refetchQueries(inbox.queries, inboxKey(inbox.workspaceId)))
  const drafts = throttle(inboxIntervalMs, () => refetchDrafts(inbox))
  const threads = threadReader(inbox)
  const recentLeads = createRecentLeads()
  const files = throttleBatches<Pick<FilePayload, 'conversationId' | 'messageId'>>(filesIntervalMs, (received) => {
    // Messages near the end of a thread are loaded with it, however many there are.
    for (const id of new Set(received.map(({ conversationId }) => conversationId))) threads(id)
    for (const { conversationId, messageId } of received) {
      if (!isNearEnd(inbox, conversationId, messageId)) {
        void refetchMessage(inbox, conversationId, messageId).catch(() => {})
      }
    }
  })
  const rows = throttleBatches<Conversation>(rowsIntervalMs, (changed) => {
    // One render for all of them.
    notifyManager.batch(() => {
      for (const row of changed) cacheConversation(inbox, row)
    })
    counts()
    // Read before the lead was renamed, but received after the new name was read.
    if (isAnyRenamed(changed, recentLeads.list())) all()
  })
  const leads = throttleBatches<ChangedLead>(leadsIntervalMs, (changed) => {
    recentLeads.add(changed)
    if (!isAnyRenamed(knownConversations(inbox), changed)) return
    all()
    void refetchNotifications(inbox.queries, inbox.workspaceId)
  })
  return ({ event, payload }) => {
    if (leadEvents.includes(event)) {
      const lead = payload as unknown as ChangedLead
      leads.add(lead.id, lead)
    } else if (event === 'team.conversation.changed') {
      const { conversation } = payload as { conversation: Conversation }
      rows.add(conversation.id, conversation)
      threads(conversation.id)
      if (hasDraft(inbox, conversation.id)) drafts()
    } else if (event === 'inbox.draft.proposed' || event === 'inbox.draft.decided') {
      drafts()
    } else if (event === 'team.conversation.gone') {
      const { conversationId } = payload as { conversationId: string }
      rows.remove(conversationId)
      removeConversation(inbox, conversationId)
      // Merged into another lead, whose id replaces it, or erased: refetch.
      void refetchQueries(inbox.queries, detailKey(inbox.workspaceId, conversationId))
      counts()
    } else if (event === 'team.conversations.changed') {
      all()
    } else if (event === 'team.media.changed') {
      const { conversationId, messageId, mediaId, state } = payload as unknown as FilePayload
      updateFileState(inbox, conversationId, mediaId, state)
      if (state === 'here') files.add(messageId, { conversationId, messageId })
    } else if (event === 'team.presence') {
      const { conversationId, people } = payload as { conversationId: string; people: Person[] }
      inbox.queries.setQueryData(peopleKey(inbox.workspaceId, conversationId), people)
    } else if (event === 'team.mentions') {
      setUnreadMentions(inbox, (payload as { unread: number }).unread)
    } else if (event === 'inbox.message.sent') {
      const { conversation, message } = payload as unknown as SentPayload
      advanceStatus(inbox, conversation.id, message.id, { status: message.status, errorCode: null })
      // The event does not contain the reason.
      if (message.status === 'failed') threads(conversation.id)
    } else {
      const { conversation_id, message_id, status, error_code } = payload as unknown as StatusPayload
      advanceStatus(inbox, conversation_id, message_id, { status, errorCode: error_code })
    }
  }
}

/** Returns all cached conversations. */
function knownConversations({ queries, workspaceId }: Inbox): Conversation[] {
  const lists = queries.getQueriesData<ConversationList>({ queryKey: listsKey(workspaceId) })
  const details = queries.getQueriesData<Detail>({ queryKey: detailsKey(workspaceId) })
  return [
    ...lists.flatMap(([, list]) => list?.rows ?? []),
    ...details.flatMap(([, detail]) => detail?.conversation ?? []),
  ]
}

interface FilePayload {
  conversationId: string
  messageId: string
  mediaId: string
  state: Media['state']
}

interface SentPayload {
  conversation: { id: string }
  message: { id: string; status: Message['status'] }
}

interface StatusPayload {
  conversation_id: string
  message_id: string
  status: Message['status']
  error_code: string | null
}

function advanceStatus(inbox: Inbox, id: string, messageId: string, deliveryStatus: DeliveryStatus): void {
  recordStatus(inbox, messageId, deliveryStatus)
  changeThread(inbox, id, (thread) => mapMessages(thread, (message) => withLiveStatus(inbox, message)))
  if (cachedConversation(inbox, id)?.lastMessage?.id === messageId) refreshLastStatus(inbox, id)
}

const isNearEnd = ({ queries, workspaceId }: Inbox, id: string, messageId: string): boolean => {
  const thread = queries.getQueryData<Thread>(threadKey(workspaceId, id))
  return thread === undefined || thread.items.slice(-newestPageSize).some((item) => item.id === messageId)
}

/** Refetches the open thread, and once more if a message arrived meanwhile. */
function threadReader(inbox: Inbox): (id: string) => void {
  const reading = new Map<string, 'reading' | 'again'>()
  const read = async (id: string) => {
    do {
      reading.set(id, 'reading')
      await refreshThread(inbox, id).catch(() => {})
    } while (reading.get(id) === 'again')
    reading.delete(id)
  }
  return (id) => {
    const key = threadKey(inbox.workspaceId, id)
    const query = inbox.queries.getQueryCache().find({ queryKey: key, exact: true })
    // Closed threads are fetched when they are opened.
    if (query === undefined || !query.isActive()) return
    if (reading.has(id)) reading.set(id, 'again')
    else void read(id)
  }
}

/**
 * Refetches what the stream does not repeat when it resumes: events of the app alone, and changes before the stream was
 * first open.
 */
function useCatchUp(inbox: Inbox): void {
  const state = useLiveState()
  // On other pages, this may mount when the stream has been open for a while.
  const before = useRef<LiveState>('connecting')
  useEffect(() => {
    if (state === 'open' && before.current === 'connecting') void refetchAfterOpen(inbox)
    else if (state === 'open' && before.current === 'lost') void catchUp(inbox)
    before.current = state
  }, [state, inbox])
}

/** Refetches after the stream first opens: a list whose first request is under way is not requested twice. */
async function refetchAfterOpen(inbox: Inbox): Promise<void> {
  const { queries, workspaceId } = inbox
  const rest = otherKeys(workspaceId).map((key) => restartQueries(queries, key))
  const readings = queries.getQueryCache().findAll({ queryKey: listsKey(workspaceId), fetchStatus: 'fetching' })
  await Promise.all(readings.map(({ promise }) => promise?.catch(() => {})))
  await Promise.all([...rest, readChanged(inbox)])
}

async function catchUp(inbox: Inbox): Promise<void> {
  await readChanged(inbox)
  await Promise.all(otherKeys(inbox.workspaceId).map((key) => restartQueries(inbox.queries, key)))
}

const otherKeys = (workspaceId: string) => [threadsKey, countsKey, unreadMentionsKey].map((key) => key(workspaceId))

async function readChanged(inbox: Inbox): Promise<void> {
  const { queries, workspaceId } = inbox
  const knownUpdate = lastKnownUpdate(inbox)
  const requestedAt = currentSequence()
  const missed =
    knownUpdate === null ? null : await listChanged(workspaceId, knownUpdate, maxRefetchedRows).catch(() => null)
  if (missed === null || missed.cursor !== null) await restartQueries(queries, listsKey(workspaceId))
  else for (const row of missed.conversations) cacheConversation(inbox, row, requestedAt)
}

/** Returns the time of the newest cached change by the server's clock, less the time a break may go unnoticed. */
function lastKnownUpdate({ queries, workspaceId }: Inbox): string | null {
  const lists = queries.getQueriesData<ConversationList>({ queryKey: listsKey(workspaceId) })
  let newest = ''
  for (const [, list] of lists) for (const { updatedAt } of list?.rows ?? []) if (updatedAt > newest) newest = updatedAt
  return newest === '' ? null : new Date(Date.parse(newest) - silenceMs).toISOString()
}
