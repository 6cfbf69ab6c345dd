import type { ThreadOwner } from '../../channels/channel-event.ts'
import { newestInbound, windowIsOpen } from './conversation-state.ts'

// Several apps can answer on one number of the official platform, such as its own AI agent. The platform reports which of
// them has a conversation ("thread control"); the others stand by. That is beside our owner, who answers among us.

/** What the platform last reported; `owner` is null while it is us. */
export interface ThreadControl {
  owner: ThreadOwner | null
  /** By the platform's clock, in whole seconds. */
  at: Date
}

/**
 * `handover`: a report of a change. `standby`: a copy of a message of another app's conversation. `ours`: a message that
 * came to us, or that a person sent: both happen only in our own conversations.
 */
export interface ThreadSignal {
  source: 'handover' | 'standby' | 'ours'
  owner: ThreadOwner | null
  at: Date
}

interface ThreadState {
  thread: ThreadControl | null
  windowExpiresAt: Date | null
}

/**
 * Returns who has the conversation after a signal. Signals may come late and repeatedly: an older one changes nothing, and a
 * copy of the same second neither. What came to us while nobody else was ever reported is not kept.
 */
export function afterSignal({ thread, windowExpiresAt }: ThreadState, signal: ThreadSignal): ThreadControl | null {
  const { source, owner, at } = signal
  if (source === 'ours' && (thread === null || thread.owner === null)) return thread
  const isTie = thread?.at.getTime() === at.getTime()
  if (thread !== null && (at < thread.at || (isTie && source === 'standby'))) return thread
  if (source !== 'standby') return isTie && thread?.owner === owner ? thread : { owner, at }
  if (thread !== null && thread.owner !== null) return { owner: thread.owner, at }
  // A newer message came to us since, or this one is a late copy.
  const newest = newestInbound(windowExpiresAt)
  return newest !== null && at < newest ? thread : { owner, at }
}

/**
 * Returns the app that has the conversation; null if we may answer. The platform takes it from every app when the customer
 * has not written for 24 hours: then the next message decides.
 */
export const standbyOwner = ({ thread, windowExpiresAt }: ThreadState, now: Date): ThreadOwner | null =>
  windowIsOpen(windowExpiresAt, now) ? (thread?.owner ?? null) : null
