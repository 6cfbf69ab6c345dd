import { notifyManager, useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useRef } from 'react'
import { atMostEvery } from '../../api/at-most-every.ts'
import { gather } from '../../api/gather.ts'
import { type LiveEvent, type LiveState, useLive, useLiveState } from '../../api/live.ts'
import { readAgain, readAnew } from '../../api/read-again.ts'
import { readNoticesAgain } from '../notices.ts'
import {
  changeThread,
  countsKey,
  type Detail,
  detailKey,
  detailsKey,
  dropConversation,
  inboxKey,
  keepConversation,
  keepTicks,
  knownConversation,
  listsKey,
  peopleKey,
  threadKey,
  threadsKey,
  unreadMentionsKey,
} from './cache.ts'
import { listChanged } from './calls.ts'
import { hearFile, readMessageAgain } from './files.ts'
import { asHeard, hearStatus, thisMoment } from './heard-changes.ts'
import type { Inbox } from './inbox.ts'
import type { ConversationList } from './list-rules.ts'
import { hearMentions } from './mentions.ts'
import { refreshThread } from './outbox.ts'
import type { Rung } from './status-rules.ts'
import { mapMessages, type Thread } from './thread-rules.ts'
import type { Conversation, Media, Message, Person } from './types.ts'
import { type ChangedLead, isAnyRenamed } from './whom-rules.ts'

const leadEvents = ['lead.created', 'lead.updated', 'lead.deleted', 'lead.restored']
const names = [
  'team.conversation.changed',
  'team.conversation.gone',
  'team.conversations.changed',
  'team.media.changed',
  'team.presence',
  'team.mentions',
  'inbox.message.sent',
  'inbox.message.status',
  ...leadEvents,
]
const maxMissed = 100
const countsRestMs = 1000
// In a busy moment this is said many times a second, and each page reads a few things for it.
const allRestMs = 250
// Nobody reads faster.
const drawnRestMs = 100
// An import makes thousands of leads.
const leadsRestMs = 250
// Pictures come by the dozen.
const filesRestMs = 250
// What the newest page of a thread has at least.
const nearEnd = 40
const silenceMs = 60_000

/** Keeps what is known of the inbox true while the app is open, on whatever page. */
export function useInboxLive(workspaceId: string): void {
  const queries = useQueryClient()
  const inbox = useMemo(() => ({ queries, workspaceId }), [queries, workspaceId])
  const hear = useMemo(() => hearer(inbox), [inbox])
  useLive(names, hear)
  useCatchUp(inbox)
}

function hearer(inbox: Inbox): (event: LiveEvent) => void {
  const counts = atMostEvery(countsRestMs, () => readAgain(inbox.queries, countsKey(inbox.workspaceId)))
  const all = atMostEvery(allRestMs, () => readAgain(inbox.queries, inboxKey(inbox.workspaceId)))
  const threads = threadReader(inbox)
  const files = gather<Pick<FilePayload, 'conversationId' | 'messageId'>>(filesRestMs, (come) => {
    // Those near the end of a thread come with it, however many they are.
    for (const id of new Set(come.map(({ conversationId }) => conversationId))) threads(id)
    for (const { conversationId, messageId } of come) {
      if (!isNearEnd(inbox, conversationId, messageId)) {
        void readMessageAgain(inbox, conversationId, messageId).catch(() => {})
      }
    }
  })
  const rows = gather<Conversation>(drawnRestMs, (changed) => {
    // Drawn once for all of them.
    notifyManager.batch(() => {
      for (const row of changed) keepConversation(inbox, row)
    })
    counts()
  })
  const leads = gather<ChangedLead>(leadsRestMs, (changed) => {
    if (!isAnyRenamed(known(inbox), changed)) return
    all()
    void readNoticesAgain(inbox.queries, inbox.workspaceId)
  })
  return ({ event, payload }) => {
    if (leadEvents.includes(event)) {
      const lead = payload as unknown as ChangedLead
      leads.add(lead.id, lead)
    } else if (event === 'team.conversation.changed') {
      const { conversation } = payload as { conversation: Conversation }
      rows.add(conversation.id, conversation)
      threads(conversation.id)
    } else if (event === 'team.conversation.gone') {
      const { conversationId } = payload as { conversationId: string }
      rows.drop(conversationId)
      dropConversation(inbox, conversationId)
      // Merged into another, which its id names from now on, or erased: the service knows.
      void readAgain(inbox.queries, detailKey(inbox.workspaceId, conversationId))
      counts()
    } else if (event === 'team.conversations.changed') {
      all()
    } else if (event === 'team.media.changed') {
      const { conversationId, messageId, mediaId, state } = payload as unknown as FilePayload
      hearFile(inbox, conversationId, mediaId, state)
      if (state === 'here') files.add(messageId, { conversationId, messageId })
    } else if (event === 'team.presence') {
      const { conversationId, people } = payload as { conversationId: string; people: Person[] }
      inbox.queries.setQueryData(peopleKey(inbox.workspaceId, conversationId), people)
    } else if (event === 'team.mentions') {
      hearMentions(inbox, (payload as { unread: number }).unread)
    } else if (event === 'inbox.message.sent') {
      const { conversation, message } = payload as unknown as SentPayload
      climb(inbox, conversation.id, message.id, { status: message.status, errorCode: null })
      // The event does not say why.
      if (message.status === 'failed') threads(conversation.id)
    } else {
      const { conversation_id, message_id, status, error_code } = payload as unknown as StatusPayload
      climb(inbox, conversation_id, message_id, { status, errorCode: error_code })
    }
  }
}

/** All conversations that are known here. */
function known({ queries, workspaceId }: Inbox): Conversation[] {
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

function climb(inbox: Inbox, id: string, messageId: string, rung: Rung): void {
  hearStatus(inbox, messageId, rung)
  changeThread(inbox, id, (thread) => mapMessages(thread, (message) => asHeard(inbox, message)))
  if (knownConversation(inbox, id)?.lastMessage?.id === messageId) keepTicks(inbox, id)
}

const isNearEnd = ({ queries, workspaceId }: Inbox, id: string, messageId: string): boolean => {
  const thread = queries.getQueryData<Thread>(threadKey(workspaceId, id))
  return thread === undefined || thread.items.slice(-nearEnd).some((item) => item.id === messageId)
}

/** Reads the open thread again, once more when something came while it was being read. */
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
    // One that nobody looks at is read when it is opened.
    if (query === undefined || !query.isActive()) return
    if (reading.has(id)) reading.set(id, 'again')
    else void read(id)
  }
}

/**
 * The stream resumes by itself, but not with what is sent to the app alone: that is read again. So is what was read before the
 * stream was first open, as nothing announced what changed between.
 */
function useCatchUp(inbox: Inbox): void {
  const state = useLiveState()
  // In another room than the inbox this may come when the stream has been open for a while.
  const before = useRef<LiveState>('connecting')
  useEffect(() => {
    if (state === 'open' && before.current === 'connecting') void lookBack(inbox)
    else if (state === 'open' && before.current === 'lost') void catchUp(inbox)
    before.current = state
  }, [state, inbox])
}

/** The same when nothing was broken: a list whose first reading is under way is not read twice for that. */
async function lookBack(inbox: Inbox): Promise<void> {
  const { queries, workspaceId } = inbox
  const rest = restOf(workspaceId).map((key) => readAnew(queries, key))
  const readings = queries.getQueryCache().findAll({ queryKey: listsKey(workspaceId), fetchStatus: 'fetching' })
  await Promise.all(readings.map(({ promise }) => promise?.catch(() => {})))
  await Promise.all([...rest, readChanged(inbox)])
}

async function catchUp(inbox: Inbox): Promise<void> {
  await readChanged(inbox)
  await Promise.all(restOf(inbox.workspaceId).map((key) => readAnew(inbox.queries, key)))
}

const restOf = (workspaceId: string) => [threadsKey, countsKey, unreadMentionsKey].map((key) => key(workspaceId))

async function readChanged(inbox: Inbox): Promise<void> {
  const { queries, workspaceId } = inbox
  const heard = lastHeard(inbox)
  const asked = thisMoment()
  const missed = heard === null ? null : await listChanged(workspaceId, heard, maxMissed).catch(() => null)
  if (missed === null || missed.cursor !== null) await readAnew(queries, listsKey(workspaceId))
  else for (const row of missed.conversations) keepConversation(inbox, row, asked)
}

/** By the service's clock: the newest change that is known here, less what a dead stream may have kept back. */
function lastHeard({ queries, workspaceId }: Inbox): string | null {
  const lists = queries.getQueriesData<ConversationList>({ queryKey: listsKey(workspaceId) })
  let newest = ''
  for (const [, list] of lists) for (const { updatedAt } of list?.rows ?? []) if (updatedAt > newest) newest = updatedAt
  return newest === '' ? null : new Date(Date.parse(newest) - silenceMs).toISOString()
}
