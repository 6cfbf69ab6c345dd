import { announce, type Db, type Tx } from '../../base/db.ts'

/** Wakes those who wait for a send of a conversation to be settled, on whichever node. */
export interface SendWakeups {
  /** Resolves at the next settled send of the conversation, or after this time. Ask before looking, then wait. */
  next(conversationId: string, maxMs: number): Promise<void>
}

/** Sends of a conversation that are settled: the id is the conversation. */
const settledTopic = 'sends_settled'

export function openSendWakeups(db: Pick<Db, 'onNews'>): SendWakeups {
  const waiting = new Map<string, Set<() => void>>()
  db.onNews(settledTopic, (conversationId) => {
    for (const wake of [...(waiting.get(conversationId) ?? [])]) wake()
  })
  return {
    next: (conversationId, maxMs) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      const set = waiting.get(conversationId) ?? new Set()
      waiting.set(conversationId, set)
      const wake = () => {
        clearTimeout(timer)
        set.delete(wake)
        if (set.size === 0 && waiting.get(conversationId) === set) waiting.delete(conversationId)
        resolve()
      }
      const timer = setTimeout(wake, maxMs)
      set.add(wake)
      return promise
    },
  }
}

/** To be called in the transaction that settles a send. Announced rather than notified: that has commits wait for each other. */
export function wakeWaiting(tx: Tx, conversationId: string): void {
  announce(tx, settledTopic, conversationId)
}
