import type { Person } from '../../data/inbox/types.ts'

export type PresenceState = Person['state'] | 'gone'

/** Reports my presence in one conversation. */
export interface PresenceSender {
  /** Whether the conversation is visible to me. */
  setVisible(isVisible: boolean): void
  /** Call on each input, of a message to the customer or of a note. Typing ends after 5 seconds without input. */
  startTyping(toCustomer: boolean): void
  /** Typing has ended: the text was sent or deleted. */
  stopTyping(): void
  leave(): void
}

// The server expires presence after 20 seconds, and shows the customer that we type again after 25.
const heartbeatMs = 13_000
const idleMs = 5_000

/** Sends each change at once and repeats it before it expires. Requests are sent in order. */
export function createPresenceSender(
  send: (state: PresenceState, toCustomer: boolean) => Promise<unknown>,
): PresenceSender {
  let state: PresenceState = 'gone'
  let toCustomer = false
  let isSending = false
  let isStale = false
  let resting: ReturnType<typeof setTimeout> | undefined
  const sendState = () => {
    // Of changes during a request, only the last one is sent.
    isStale = isSending
    if (isSending) return
    isSending = true
    void send(state, toCustomer).finally(() => {
      isSending = false
      if (isStale) sendState()
    })
  }
  const setState = (next: PresenceState, isToCustomer = false) => {
    clearTimeout(resting)
    if (next === state && isToCustomer === toCustomer) return
    state = next
    toCustomer = isToCustomer
    sendState()
  }
  const heartbeat = setInterval(() => state !== 'gone' && sendState(), heartbeatMs)
  const stopTyping = () => {
    if (state === 'typing') setState('viewing')
  }
  return {
    setVisible: (isVisible) => setState(isVisible ? 'viewing' : 'gone'),
    startTyping: (isToCustomer) => {
      setState('typing', isToCustomer)
      resting = setTimeout(stopTyping, idleMs)
    },
    stopTyping,
    leave: () => {
      clearInterval(heartbeat)
      setState('gone')
    },
  }
}
