import type { Person } from '../../data/inbox/types.ts'

export type PresenceState = Person['state'] | 'gone'

/** Reports my presence in one conversation. */
export interface PresenceSender {
  /** Whether the conversation is visible to me. */
  setVisible(isSeen: boolean): void
  /** Call on each input. Typing ends after 5 seconds without input. */
  startTyping(): void
  /** Typing has ended: the text was sent or deleted. */
  stopTyping(): void
  leave(): void
}

// The server expires presence after 20 seconds.
const heartbeatMs = 10_000
const idleMs = 5_000

/** Sends each change at once and repeats it before it expires. Requests are sent in order. */
export function createPresenceSender(say: (state: PresenceState) => Promise<unknown>): PresenceSender {
  let state: PresenceState = 'gone'
  let isSaying = false
  let isStale = false
  let resting: ReturnType<typeof setTimeout> | undefined
  const speak = () => {
    // Of changes during a request, only the last one is sent.
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
