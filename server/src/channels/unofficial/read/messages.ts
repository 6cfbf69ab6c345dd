import { type Loose, objectOf, tokenOf } from '../../waba/json.ts'
import type { Read } from '../../waba/read/reading.ts'
import { callLog, missedCallText } from './calls.ts'
import { readContent, readReferral } from './content.ts'
import { customerOf, readJid, readName } from './jid.ts'
import { readNetworkTime } from './platform-time.ts'
import { readRevision } from './revision.ts'
import { isEmpty, unwrap } from './unwrap.ts'

/** As the network numbers the statuses of messages. */
const pending = 1

/** One of `messages.upsert`, live or kept for us while we were away: a customer wrote, or a person did on the phone. */
export function readMessage(message: Loose, now: Date): Read {
  const { id, fromMe, remoteJid, remoteJidAlt } = objectOf(message.key)
  if (readJid(remoteJid) === null) return 'message that is not between two people'
  const externalId = tokenOf(id)
  if (externalId === null) return 'message without an id'
  const content = unwrap(message.message)
  const missed = missedCallText(message.messageStubType)
  if (missed !== null) return readMissedCall(message, externalId, missed, now)
  // It comes again under the same id once it could be decrypted, so nothing of it may be kept.
  if (isEmpty(content)) return 'notice, or message that is not decrypted yet'
  const said = readContent(content)
  const isOurs = fromMe === true
  // A device gets its own messages before the network has acknowledged them.
  if (isOurs && message.status === pending) return 'message that has not left yet'
  // Beside what was written on the phone stands the name of its owner.
  const name = isOurs ? null : readName(message.verifiedBizName, message.pushName)
  const customer = customerOf([remoteJid, remoteJidAlt], name)
  if (customer === null) return 'message of nobody'
  const at = readNetworkTime(message.messageTimestamp, now)
  if (said === null) return readRevision(content, { direction: isOurs ? 'outbound' : 'inbound', customer, at }, now)
  const shared = { externalId, customer, ...said, at }
  if (isOurs) return { type: 'echo', ...shared }
  // Who calls has written nothing.
  return { type: 'message', ...shared, referral: readReferral(content), opensWindow: !(callLog in content) }
}

function readMissedCall(message: Loose, externalId: string, text: string, now: Date): Read {
  const { remoteJid, remoteJidAlt } = objectOf(message.key)
  const customer = customerOf([remoteJid, remoteJidAlt], null)
  if (customer === null) return 'call of nobody'
  const at = readNetworkTime(message.messageTimestamp, now)
  const notice = { type: 'message', externalId, customer, kind: 'system', text, at } as const
  return { ...notice, referral: null, opensWindow: false }
}
