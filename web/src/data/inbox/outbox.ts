import { useQuery } from '@tanstack/react-query'
import { ApiError } from '../../api/api-error.ts'
import { currentUser } from '../../session/session.ts'
import { outboxKey, threadKey } from './cache.ts'
import * as calls from './calls.ts'
import type { Inbox } from './inbox.ts'
import { type OutboxEntry, ownMessageIds } from './outbox-rules.ts'
import { fetchNewestThread } from './queries.ts'
import type { Thread } from './thread-rules.ts'
import type { ReactionToSend, Reply } from './types.ts'

const noEntries: readonly OutboxEntry[] = []
const retryMs = [1000, 2000, 4000, 8000]
// What is written in a conversation goes in that order, also when it waited for the connection meanwhile.
const queues = new Map<string, Promise<unknown>>()

/** What of mine is on its way in a conversation, oldest first. */
export function useOutbox(workspaceId: string, id: string): readonly OutboxEntry[] {
  const { data = noEntries } = useQuery<readonly OutboxEntry[]>({
    queryKey: outboxKey(workspaceId, id),
    queryFn: () => noEntries,
    enabled: false,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
  })
  return data
}

export interface SendRequest {
  reply: Reply
  /** As the thread shows it: the text, or the template filled in. */
  text: string
  /** Nothing is sent when somebody has written since this message (409 `THREAD_MOVED`). */
  ifLastMessageId?: string | null
  /** The Idempotency-Key, when it was tried before. */
  key?: string
}

/**
 * Sends a message, which the thread shows at once. Resolves when the platform has said what became of it; one that
 * failed there stays in the thread. Rejects when the service refused it: then nothing was sent, and the text is the
 * sender's again. While the service cannot be reached it waits, and is tried again under the same key.
 */
export async function sendReply(inbox: Inbox, id: string, request: SendRequest) {
  const { reply, text, ifLastMessageId = null, key = crypto.randomUUID() } = request
  const { queries, workspaceId } = inbox
  const items = queries.getQueryData<Thread>(threadKey(workspaceId, id))?.items ?? []
  const entry: OutboxEntry = {
    key,
    text,
    at: new Date().toISOString(),
    state: 'sending',
    knownIds: ownMessageIds(items, text, currentUser().id),
    messageId: null,
  }
  setOutbox(inbox, id, (outbox) => [...outbox, entry])
  try {
    const call = () => calls.send(workspaceId, id, reply, key, ifLastMessageId)
    const messageId = await enqueue(id, () => sendWithRetry(inbox, id, key, call))
    if (messageId !== null) changeEntry(inbox, id, entry.key, { messageId })
    await refreshThread(inbox, id).catch(() => {})
  } finally {
    setOutbox(inbox, id, (outbox) => outbox.filter(({ key }) => key !== entry.key))
  }
}

/** Runs something when all that was let go before it in a conversation has been answered. */
export function enqueue<T>(id: string, run: () => Promise<T>): Promise<T> {
  const task = (queues.get(id) ?? Promise.resolve()).then(run)
  queues.set(
    id,
    task.catch(() => {}),
  )
  return task
}

/** As `sendReply`, for what is shown elsewhere while it is on its way, and has had its turn. */
export async function sendInBackground(
  inbox: Inbox,
  id: string,
  { reply, key, ifLastMessageId }: { reply: Reply | ReactionToSend; key: string; ifLastMessageId: string | null },
): Promise<void> {
  await sendWithRetry(inbox, id, key, () => calls.send(inbox.workspaceId, id, reply, key, ifLastMessageId))
  await refreshThread(inbox, id).catch(() => {})
}

export async function refreshThread(inbox: Inbox, id: string): Promise<void> {
  const thread = await fetchNewestThread(inbox, id)
  inbox.queries.setQueryData(threadKey(inbox.workspaceId, id), thread)
}

/** The message's id; null when it failed at the platform, which the thread shows. */
async function sendWithRetry(
  inbox: Inbox,
  id: string,
  key: string,
  call: () => Promise<{ message_id: string }>,
): Promise<string | null> {
  for (let attempt = 0; ; attempt++) {
    try {
      return (await call()).message_id
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      if (error.code === 'DELIVERY_FAILED') return null
      // Somebody has closed the inbox, and nobody knows for how long: that is shown, not waited for.
      if (error.code === 'CHAT_INBOX_UNAVAILABLE') throw error
      const isUnknown = error.status === 0 || error.status >= 500 || error.code === 'NOT_RETRYABLE'
      if (!isUnknown && error.status !== 429) throw error
      changeEntry(inbox, id, key, { state: 'waiting' })
      await waitUntilOnline(retryMs[Math.min(attempt, retryMs.length - 1)] ?? 8000)
    }
  }
}

/** Or until the browser says that the network is back. */
function waitUntilOnline(ms: number): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      window.removeEventListener('online', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    window.addEventListener('online', done)
  })
}

function changeEntry(inbox: Inbox, id: string, key: string, changes: Partial<OutboxEntry>): void {
  setOutbox(inbox, id, (outbox) => outbox.map((entry) => (entry.key === key ? { ...entry, ...changes } : entry)))
}

function setOutbox(
  { queries, workspaceId }: Inbox,
  id: string,
  change: (outbox: readonly OutboxEntry[]) => readonly OutboxEntry[],
): void {
  queries.setQueryData<readonly OutboxEntry[]>(outboxKey(workspaceId, id), (outbox) => change(outbox ?? noEntries))
}
