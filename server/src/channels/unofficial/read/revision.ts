import type { ChannelEvent } from '../../channel-event.ts'
import { maxTextLength } from '../../detail-values.ts'
import { type Loose, objectOf, tokenOf } from '../../waba/json.ts'
import type { Read } from '../../waba/read/reading.ts'
import { readContent } from './content.ts'
import { readNetworkTime } from './platform-time.ts'
import { unwrap } from './unwrap.ts'

type Revision = Extract<ChannelEvent, { originalId: string }>
type About = Omit<Revision, 'type' | 'text' | 'originalId'>

/** As the network numbers what concerns another message. */
const [withdrawal, edit] = [0, 14]

/** What is no message of its own: an edit, a withdrawal, a reaction that was lifted. Takes what `unwrap` returns. */
export function readRevision(content: Loose, about: About): Read {
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
