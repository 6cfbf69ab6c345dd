import type { Person } from '../../data/inbox/types.ts'

export type PresenceState = Person['state'] | 'gone'

/** What my browser says of me in one conversation. */
export interface PresenceSender {
  /** Whether I have it in front of me. */
  setVisible(isSeen: boolean): void
  /** At each letter. Whoever rests for a while types no more. */
  startTyping(): void
  /** Nothing is being written any more: it was sent, or taken back. */
  stopTyping(): void
  leave(): void
}

// The service believes it for twenty seconds.
const heartbeatMs = 10_000
const idleMs = 5_000

/** Sends each change at once, and the same again before it expires. Nothing sent overtakes what was sent before. */
export function createPresenceSender(say: (state: PresenceState) => Promise<unknown>): PresenceSender {
  let state: PresenceState = 'gone'
  let isSaying = false
  let isStale = false
  let resting: ReturnType<typeof setTimeout> | undefined
  const speak = () => {
    // Of what changes while something is on its way only the last counts.
    isStale = isSaying
    if (isSaying) return
    isSaying = true
    void say(state).finally(() => {
      isSaying = false
      if (isStale) speak()
    })
  }
  const be = (next: PresenceState) => {
    clearTimeout(resting)
    if (next === state) return
    state = next
    speak()
  }
  const heartbeat = setInterval(() => state !== 'gone' && speak(), heartbeatMs)
  const stopTyping = () => {
    if (state === 'typing') be('viewing')
  }
  return {
    setVisible: (isSeen) => be(isSeen ? 'viewing' : 'gone'),
    startTyping: () => {
      be('typing')
      resting = setTimeout(stopTyping, idleMs)
    },
    stopTyping,
    leave: () => {
      clearInterval(heartbeat)
      be('gone')
    },
  }
}
