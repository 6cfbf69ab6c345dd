import { sqlState, violates } from '../../base/db.ts'
import type { Log, LogFields } from '../../base/log.ts'

// Data exceptions, constraint violations and exceeded limits: the same item would always fail again.
const permanentClasses = new Set(['22', '23', '54'])

/** Returns whether the item itself causes the error. Any other error may pass and is worth a redelivery. */
export function isPermanentError(error: unknown): boolean {
  const state = sqlState(error)
  if (state !== '') return permanentClasses.has(state.slice(0, 2))
  return error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError
}

/**
 * Processes all items at once, and one by one if an item causes an error. Logs and skips the faulty item, so that it
 * does not block the others.
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
 * Retries a transaction that collided with another for the same customer or message. Two transactions may create one
 * customer, by user id and by phone; the later one finds the conversation of the earlier when it retries.
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
