import type { DeliveryStatus } from '../../channel-event.ts'
import { type Loose, listOf, objectOf, textOf, tokenOf } from '../json.ts'
import { findCustomer } from './customer.ts'
import { readPlatformTime } from './platform-time.ts'
import type { Read, Reading } from './reading.ts'

const known: ReadonlyMap<unknown, DeliveryStatus> = new Map<string, DeliveryStatus>([
  ['sent', 'sent'],
  ['delivered', 'delivered'],
  ['read', 'read'],
  // A voice message that was played has been read as well.
  ['played', 'read'],
  ['failed', 'failed'],
])

/** One of `value.statuses`: how far a message of ours has come. */
export function readStatus(reading: Reading, item: Loose): Read {
  const status = known.get(item.status)
  const externalId = tokenOf(item.id)
  if (item.recipient_type === 'group') return 'status in a group'
  if (status === undefined) return 'status that is not known'
  if (externalId === null) return 'status without an id'
  return {
    type: 'status',
    externalId,
    status,
    errorCode: status === 'failed' ? errorCodeOf(item) : null,
    at: readPlatformTime(item.timestamp, reading.now),
    correlator: textOf(item.biz_opaque_callback_data),
    customer: findCustomer(reading.contacts, item.recipient_id, item.recipient_user_id, item.recipient_parent_user_id),
  }
}

function errorCodeOf({ errors }: Loose): string {
  return tokenOf(objectOf(listOf(errors)[0]).code)?.slice(0, 50) ?? 'unknown'
}
