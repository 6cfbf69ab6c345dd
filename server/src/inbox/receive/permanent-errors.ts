import { sqlState } from '../../base/db.ts'

// Data exceptions, broken constraints, values beyond a limit: the same item would fail again for ever.
const lastingClasses = new Set(['22', '23', '54'])

/** Whether an item itself is at fault. Everything else may pass with time, and is worth another delivery. */
export function isPermanentError(error: unknown): boolean {
  const state = sqlState(error)
  if (state !== '') return lastingClasses.has(state.slice(0, 2))
  return error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError
}
