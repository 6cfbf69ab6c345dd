import { sqlState, violates } from '../../base/db.ts'
import type { Log, LogFields } from '../../base/log.ts'

// Data exceptions, broken constraints, values beyond a limit: the same item would fail again for ever.
const permanentClasses = new Set(['22', '23', '54'])

/** Whether an item itself is at fault. Everything else may pass with time, and is worth another delivery. */
export function isPermanentError(error: unknown): boolean {
  const state = sqlState(error)
  if (state !== '') return permanentClasses.has(state.slice(0, 2))
  return error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError
}

/**
 * Does all of it at once; one by one where an item is at fault, so that none is held up by another. The item at fault is logged
 * and passed over.
 */
export async function skipFaulty<T>(
  log: Log,
  items: readonly T[],
  work: (items: readonly T[]) => Promise<void>,
  fieldsOf: (item: T) => LogFields,
): Promise<void> {
  try {
    await work(items)
  } catch (error) {
    if (!isPermanentError(error)) throw error
    const [first, another] = items
    if (another !== undefined) for (const each of items) await skipFaulty(log, [each], work, fieldsOf)
    else if (first !== undefined) log.error('skipping inbound item that cannot be stored', fieldsOf(first), error)
  }
}

const maxAttempts = 5
const keys = ['conversations_user_key', 'conversations_phone_key', 'messages_external_key']

/**
 * Runs a transaction again that met another one about the same customer: two may learn of one at the same time, by
 * user id here and by phone there, and the later one sees the earlier's conversation when it looks again. So it is with two
 * that learn of one message.
 */
export async function retryOnRace<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (attempt === maxAttempts || !keys.some((key) => violates(error, key))) throw error
    }
  }
}
