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
// Messages of a conversation are sent in the order in which they were written, even after waiting for the connection.
const queues = new Map<string, Promise<unknown>>()

/** Returns my messages that are being sent in a conversation, oldest first. */
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

/** `key`: that of an earlier attempt. */
export interface SendRequest extends Partial<calls.SendOptions> {
  reply: Reply
  /** Text as shown in the thread; for templates, the filled-in text. */
  text: string
}

/**
 * Sends a message, shown in the thread at once. Resolves when the platform has accepted or failed it; a failed message
 * stays in the thread. Rejects if the server refuses: nothing was sent, and the text returns to the field. While the
 * server is unreachable, the send waits and is retried with the same key.
 */
export async function sendReply(inbox: Inbox, id: string, request: SendRequest) {
  const { reply, text, ifLastMessageId = null, isOverBudget = false, key = crypto.randomUUID() } = request
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
    const call = () => calls.send(workspaceId, id, reply, { key, ifLastMessageId, isOverBudget })
    const messageId = await enqueue(id, () => sendWithRetry(inbox, id, key, call))
    if (messageId !== null) changeEntry(inbox, id, entry.key, { messageId })
    await refreshThread(inbox, id).catch(() => {})
  } finally {
    setOutbox(inbox, id, (outbox) => outbox.filter(({ key }) => key !== entry.key))
  }
}

/** Runs a task after all earlier tasks of the conversation have completed. */
export function enqueue<T>(id: string, run: () => Promise<T>): Promise<T> {
  const task = (queues.get(id) ?? Promise.resolve()).then(run)
  queues.set(
    id,
    task.catch(() => {}),
  )
  return task
}

/** Sends like `sendReply`, for messages that are shown elsewhere and already queued. */
export async function sendInBackground(
  inbox: Inbox,
  id: string,
  { reply, ...options }: calls.SendOptions & { reply: Reply | ReactionToSend },
): Promise<void> {
  await sendWithRetry(inbox, id, options.key, () => calls.send(inbox.workspaceId, id, reply, options))
  await refreshThread(inbox, id).catch(() => {})
}

export async function refreshThread(inbox: Inbox, id: string): Promise<void> {
  const thread = await fetchNewestThread(inbox, id)
  inbox.queries.setQueryData(threadKey(inbox.workspaceId, id), thread)
}

/** Returns the id of the message; null if the platform failed it, which the thread shows. */
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
      // An operator has closed the inbox for an unknown time: show this instead of retrying.
      if (error.code === 'CHAT_INBOX_UNAVAILABLE') throw error
      const isUnknown = error.status === 0 || error.status >= 500 || error.code === 'NOT_RETRYABLE'
      if (!isUnknown && error.status !== 429) throw error
      changeEntry(inbox, id, key, { state: 'waiting' })
      await waitUntilOnline(retryMs[Math.min(attempt, retryMs.length - 1)] ?? 8000)
    }
  }
}

/** Waits, or until the browser is online again. */
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
