import type { ChannelEvent } from '../../channel-event.ts'
import { type Loose, listOf, objectOf, tokenOf } from '../../waba/json.ts'
import type { Read } from '../../waba/read/reading.ts'
import { readContact, readMapping } from './contacts.ts'
import { readContent } from './content.ts'
import { customerOf, readJid, readName } from './jid.ts'
import { readNetworkTime } from './platform-time.ts'
import { statuses } from './statuses.ts'
import { isEmpty, unwrap } from './unwrap.ts'

type HistoryEvent = Extract<ChannelEvent, { type: 'history' }>

/** The data of `messaging-history.set`: what was written before the number was paired, and who the phone knows. */
export function readHistory({ messages, contacts, lidPnMappings }: Loose, now: Date): Read {
  const phones = phonesOf(listOf(lidPnMappings))
  return [
    ...listOf(messages).map((one) => readOld(objectOf(one), phones, now)),
    ...listOf(lidPnMappings).flatMap((one) => readMapping(objectOf(one))),
    ...listOf(contacts).flatMap((one) => readContact(objectOf(one))),
  ]
}

function readOld(message: Loose, phones: ReadonlyMap<string, string>, now: Date): HistoryEvent | string {
  const { id, fromMe, remoteJid, remoteJidAlt } = objectOf(message.key)
  const jid = readJid(remoteJid)
  if (jid === null) return 'message that is not between two people'
  const externalId = tokenOf(id)
  const content = unwrap(message.message)
  const said = isEmpty(content) ? null : readContent(content)
  if (said === null || externalId === null) return 'old message that says nothing'
  const direction = fromMe === true ? 'outbound' : 'inbound'
  const known = jid.lid === null ? null : phones.get(jid.lid)
  const name = direction === 'inbound' ? readName(message.verifiedBizName, message.pushName) : null
  const customer = customerOf([remoteJid, remoteJidAlt, known], name)
  if (customer === null) return 'old message of nobody'
  const status = direction === 'inbound' ? 'delivered' : statusOf(message.status)
  const at = readNetworkTime(message.messageTimestamp, now)
  return { type: 'history', direction, externalId, customer, ...said, status, at }
}

function phonesOf(mappings: unknown[]): Map<string, string> {
  const phones = new Map<string, string>()
  for (const mapping of mappings) {
    const { lid, pn } = objectOf(mapping)
    const hidden = readJid(lid)?.lid
    if (hidden && typeof pn === 'string') phones.set(hidden, pn)
  }
  return phones
}

function statusOf(number: unknown): HistoryEvent['status'] {
  return number === 1 ? 'pending' : (statuses.get(number) ?? 'delivered')
}
