import { type Loose, textOf } from '../json.ts'
import { findCustomer } from './customer.ts'
import { type Read, type Reading, readPlatformTime } from './reading.ts'

const values: ReadonlyMap<string | null, boolean> = new Map([
  ['stop', true],
  ['resume', false],
])

/** One of `value.user_preferences`: whether a customer wants marketing messages. */
export function readPreference(reading: Reading, item: Loose): Read {
  const isStopped = values.get(textOf(item.value)?.trim().toLowerCase() ?? null)
  if (item.category !== 'marketing_messages' || isStopped === undefined) return 'preference that is not known'
  const [only, another] = reading.contacts
  const named = findCustomer(reading.contacts, item.wa_id, item.user_id, item.parent_user_id)
  const customer = named ?? (another === undefined ? only : undefined)
  if (customer === undefined || (customer.phone === null && customer.userId === null)) {
    return 'preference without a customer'
  }
  return { type: 'marketing_preference', customer, isStopped, at: readPlatformTime(item.timestamp, reading.now) }
}
