import type { ChannelEvent } from '../../channel-event.ts'
import { maxTextLength } from '../../detail-values.ts'
import { type Loose, objectOf, tokenOf } from '../../waba/json.ts'
import type { Read } from '../../waba/read/reading.ts'
import { readContent } from './content.ts'
import { customerOf } from './jid.ts'
import { readNetworkTime } from './platform-time.ts'
import { unwrap } from './unwrap.ts'

type About = Pick<Extract<ChannelEvent, { originalId: string }>, 'direction' | 'customer' | 'at'>

/** As the network numbers what concerns another message, and notices in place of one. */
const [withdrawal, edit, withdrawnNotice] = [0, 14, 1]

/** What is no message of its own: an edit, a withdrawal, a reaction that was lifted. Takes what `unwrap` returns. */
export function readRevision(content: Loose, about: About, now: Date): Read {
  const { type, key, editedMessage, timestampMs } = objectOf(content.protocolMessage)
  const reaction = objectOf(content.reactionMessage)
  const originalId = tokenOf(objectOf(key ?? reaction.key).id)
  const isKnown = type === withdrawal || type === edit || 'reactionMessage' in content
  if (!isKnown || originalId === null) return 'edit, withdrawal, lifted reaction or the like'
  if ('reactionMessage' in content) return { type: 'reaction_lifted', originalId, ...about }
  if (type === withdrawal) return { type: 'withdrawn', originalId, ...about }
  return readEdit(editedMessage, originalId, { ...about, at: readNetworkTime(timestampMs, now, about.at) })
}

/**
 * One of `messages.update` that is no status: the network's library tells edits and withdrawals once more this way, and
 * edits that came encrypted in no other.
 */
export function readChange(key: Loose, update: Loose, now: Date): Read {
  const isWithdrawal = update.message === null && update.messageStubType === withdrawnNotice
  const edited = objectOf(objectOf(update.message).editedMessage).message
  const originalId = tokenOf(key.id)
  if ((!isWithdrawal && edited === undefined) || originalId === null) return 'change of a message that is no status'
  const customer = customerOf([key.remoteJid, key.remoteJidAlt], null)
  if (customer === null) return 'change of a message of nobody'
  const direction = key.fromMe === true ? 'outbound' : 'inbound'
  const about: About = { direction, customer, at: readNetworkTime(update.messageTimestamp, now) }
  return isWithdrawal ? { type: 'withdrawn', originalId, ...about } : readEdit(edited, originalId, about)
}

function readEdit(message: unknown, originalId: string, about: About): Read {
  const said = readContent(unwrap(message))
  // What cannot be shown must not take the place of what could.
  if (said === null || said.kind === 'system') return 'edit that says nothing'
  return { type: 'edited', originalId, ...about, text: said.text.slice(0, maxTextLength).toWellFormed() }
}
