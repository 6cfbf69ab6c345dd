import type { ChannelEvent } from '../../channel-event.ts'
import { type Loose, listOf, objectOf, textOf, tokenOf } from '../json.ts'
import { readContent } from './content.ts'
import { findCustomer, readPhone } from './customer.ts'
import { type Read, type Reading, readPlatformTime } from './reading.ts'

type HistoryEvent = Extract<ChannelEvent, { type: 'history' }>

const statuses: ReadonlyMap<unknown, HistoryEvent['status']> = new Map<string, HistoryEvent['status']>([
  ['PENDING', 'pending'],
  ['SENT', 'sent'],
  ['DELIVERED', 'delivered'],
  ['READ', 'read'],
  ['PLAYED', 'read'],
  ['ERROR', 'failed'],
])

/** One of `value.history`: a chunk of what was written before the number was connected, or a refusal to share it. */
export function readHistory(reading: Reading, chunk: Loose): Read {
  if (listOf(chunk.errors).length > 0) return 'history that the business does not share'
  return listOf(chunk.threads).flatMap((one) => {
    const thread = objectOf(one)
    return listOf(thread.messages).flatMap((message) => readOld(reading, objectOf(message), thread))
  })
}

/** One of `value.messages` of a history: the media of a message that a chunk had named. */
export function readHistoryMessage(reading: Reading, message: Loose): Read {
  return readOld(reading, message, {})
}

function readOld(reading: Reading, message: Loose, thread: Loose): HistoryEvent | string {
  const externalId = tokenOf(message.id)
  if (message.group_id !== undefined) return 'message in a group'
  const said = readContent(message)
  if (said === null || externalId === null) return 'old message that says nothing'
  const direction = isFromBusiness(reading, message, thread) ? 'outbound' : 'inbound'
  const customer = partnerOf(reading, message, thread, direction)
  if (customer === null) return 'old message of nobody'
  const status = statuses.get(objectOf(message.history_context).status) ?? 'delivered'
  const at = readPlatformTime(message.timestamp, reading.now)
  return { type: 'history', direction, externalId, customer, ...said, status, at }
}

function isFromBusiness({ ownPhone }: Reading, message: Loose, thread: Loose): boolean {
  const from = tokenOf(message.from)
  const customer = tokenOf(thread.id)
  if (customer !== null && (from === customer || textOf(message.from_user_id) === customer)) return false
  if (from !== null && readPhone(from) === ownPhone) return true
  return message.to !== undefined || message.to_user_id !== undefined
}

function partnerOf({ contacts }: Reading, message: Loose, thread: Loose, direction: HistoryEvent['direction']) {
  const { wa_id, user_id, parent_user_id } = objectOf(thread.context)
  const [address, userId] =
    direction === 'inbound' ? [message.from, message.from_user_id] : [message.to, message.to_user_id]
  return (
    findCustomer(contacts, thread.id ?? wa_id, user_id ?? userId, parent_user_id) ??
    findCustomer(contacts, address ?? wa_id, userId ?? user_id, parent_user_id)
  )
}
