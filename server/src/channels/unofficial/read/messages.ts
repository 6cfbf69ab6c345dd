import type { ChannelEvent } from '../../channel-event.ts'
import { maxTextLength } from '../../detail-values.ts'
import { type Loose, objectOf, tokenOf } from '../../waba/json.ts'
import type { Read } from '../../waba/read/reading.ts'
import { readContent, readReferral } from './content.ts'
import { customerOf, readJid, readName } from './jid.ts'
import { readNetworkTime } from './platform-time.ts'
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
  if (said === null) return readRevision(content, { direction: isOurs ? 'outbound' : 'inbound', customer, at })
  const shared = { externalId, customer, ...said, at }
  if (isOurs) return { type: 'echo', ...shared }
  return { type: 'message', ...shared, referral: readReferral(content), opensWindow: true }
}

type Revision = Extract<ChannelEvent, { originalId: string }>
type About = Omit<Revision, 'type' | 'text' | 'originalId'>

/** As the network numbers what concerns another message. */
const [withdrawal, edit] = [0, 14]

/** What is no message of its own: an edit, a withdrawal, a reaction that was lifted. Takes what `unwrap` returns. */
function readRevision(content: Loose, about: About): Read {
  const { type, key, editedMessage, timestampMs } = objectOf(content.protocolMessage)
  const reaction = objectOf(content.reactionMessage)
  const originalId = tokenOf(objectOf(key ?? reaction.key).id)
  const isKnown = type === withdrawal || type === edit || 'reactionMessage' in content
  if (!isKnown || originalId === null) return 'edit, withdrawal, lifted reaction or the like'
  if ('reactionMessage' in content) return { type: 'reaction_lifted', originalId, ...about }
  if (type === withdrawal) return { type: 'withdrawn', originalId, ...about }
  const said = readContent(unwrap(editedMessage))
  // What cannot be shown must not take the place of what could.
  if (said === null || said.kind === 'system') return 'edit that says nothing'
  const at = readNetworkTime(timestampMs, about.at)
  return { type: 'edited', originalId, ...about, text: said.text.slice(0, maxTextLength).toWellFormed(), at }
}
