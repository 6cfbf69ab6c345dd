import type { Person } from '../../data/inbox/types.ts'

export type Said = Person['state'] | 'gone'

/** What my browser says of me in one conversation. */
export interface PresenceSender {
  /** Whether I have it in front of me. */
  look(isSeen: boolean): void
  /** At each letter. Whoever rests for a while types no more. */
  type(): void
  /** Nothing is being written any more: it was sent, or taken back. */
  rest(): void
  leave(): void
}

// The service believes it for twenty seconds.
const beatMs = 10_000
const restMs = 5_000

/** Sends each change at once, and the same again before it expires. Nothing sent overtakes what was sent before. */
export function openPresenceSender(say: (state: Said) => Promise<unknown>): PresenceSender {
  let state: Said = 'gone'
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
  const be = (next: Said) => {
    clearTimeout(resting)
    if (next === state) return
    state = next
    speak()
  }
  const beat = setInterval(() => state !== 'gone' && speak(), beatMs)
  const rest = () => {
    if (state === 'typing') be('viewing')
  }
  return {
    look: (isSeen) => be(isSeen ? 'viewing' : 'gone'),
    type: () => {
      be('typing')
      resting = setTimeout(rest, restMs)
    },
    rest,
    leave: () => {
      clearInterval(beat)
      be('gone')
    },
  }
}
