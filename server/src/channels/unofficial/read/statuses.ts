import type { DeliveryStatus } from '../../channel-event.ts'
import { type Loose, listOf, objectOf, tokenOf } from '../../waba/json.ts'
import type { Read } from '../../waba/read/reading.ts'
import { customerOf, readJid } from './jid.ts'
import { readNetworkTime } from './platform-time.ts'
import { readChange } from './revision.ts'

/** As the network numbers them; 1 says that the message has not left yet. */
export const statuses: ReadonlyMap<unknown, DeliveryStatus> = new Map<number, DeliveryStatus>([
  [0, 'failed'],
  [2, 'sent'],
  [3, 'delivered'],
  [4, 'read'],
  // A voice message that was played has been read as well.
  [5, 'read'],
])

/** One of `messages.update`: how far a message of ours has come. Edits and the like come this way once more. */
export function readStatus({ key, update }: Loose, now: Date): Read {
  const { id, fromMe, remoteJid, remoteJidAlt } = objectOf(key)
  const { status: number, messageTimestamp, messageStubParameters } = objectOf(update)
  const status = statuses.get(number)
  const externalId = tokenOf(id)
  if (status === undefined) return readChange(objectOf(key), objectOf(update), now)
  if (fromMe !== true) return "status of a customer's message"
  if (externalId === null) return 'status without an id'
  // The address may be another one than was written to: the id is what joins them.
  if (readJid(remoteJid) === null && remoteJid !== undefined) return 'status that is not of a person'
  return {
    type: 'status',
    externalId,
    status,
    errorCode: status === 'failed' ? (tokenOf(listOf(messageStubParameters)[0])?.slice(0, 50) ?? 'unknown') : null,
    at: readNetworkTime(messageTimestamp, now),
    correlator: null,
    customer: customerOf([remoteJid, remoteJidAlt], null),
  }
}
