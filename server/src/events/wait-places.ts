import { tooManyRequests, unavailable } from '../base/errors.ts'

/** Bounds how many requests wait at once: of one key, and of all. */
export interface WaitPlaces {
  /** Returns how to leave. Throws 429 when the key has no place left, 503 when nobody has. */
  enter(keyId: string): () => void
}

const maxOfKey = 10
const maxOfAll = 2_000

/** `instead` says what to do while all places are taken. */
export function createWaitPlaces(instead: string): WaitPlaces {
  const waiting = new Map<string, number>()
  let all = 0
  return {
    enter: (keyId) => {
      const count = waiting.get(keyId) ?? 0
      if (count >= maxOfKey) {
        throw tooManyRequests(`This key has ${maxOfKey} requests that wait already. Let one end first.`, 1, {
          code: 'RATE_LIMITED',
        })
      }
      if (all >= maxOfAll) throw unavailable(`Too many requests wait at the moment. ${instead}`)
      all++
      waiting.set(keyId, count + 1)
      return () => {
        all--
        const left = (waiting.get(keyId) ?? 1) - 1
        if (left === 0) waiting.delete(keyId)
        else waiting.set(keyId, left)
      }
    },
  }
}
