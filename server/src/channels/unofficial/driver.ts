import type { SessionConnection } from '../connection.ts'
import type { Driver } from '../driver.ts'

/** There is nobody to ask: what the session itself said last stands until it says something else. */
export const sessionDriver: Driver<SessionConnection> = {
  check: async ({ id, numberId, state, stateReason }) => {
    const told = state === 'unavailable' ? stateReason : null
    return { problem: told ?? (numberId === id ? 'never_paired' : null), isOnPhone: true }
  },
}
