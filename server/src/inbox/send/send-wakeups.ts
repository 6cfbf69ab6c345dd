import type { Db, Tx } from '../../base/db.ts'

/** Wakes those who wait for a send of a conversation to be settled, on whichever node. */
export interface SendWakeups {
  /** Resolves at the next settled send of the conversation, or after this time. Ask before looking, then wait. */
  next(conversationId: string, maxMs: number): Promise<void>
}

const channel = 'inbox_sends'

export async function openSendWakeups(db: Db): Promise<SendWakeups> {
  const waiting = new Map<string, Set<() => void>>()
  await db.listen(channel, (conversationId) => {
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

/** To be called in the transaction that settles a send. */
export async function wakeWaiting(tx: Tx, conversationId: string): Promise<void> {
  await tx`select pg_notify(${channel}, ${conversationId})`
}
