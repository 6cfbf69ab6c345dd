import type { ChannelEvent } from '../../channel-event.ts'
import { maxTextLength } from '../../detail-values.ts'
import { type Loose, objectOf, tokenOf } from '../json.ts'
import { readContent } from './content.ts'
import type { Read } from './reading.ts'

type Revision = Extract<ChannelEvent, { originalId: string }>
type About = Omit<Revision, 'type' | 'text' | 'originalId'>

/** What is no message of its own: an edit, a withdrawal, a reaction that was lifted. */
export function readRevision(message: Loose, about: About): Read {
  const inner = objectOf(message[String(message.type)])
  const originalId = tokenOf(message.type === 'reaction' ? inner.message_id : inner.original_message_id)
  if (originalId === null) return 'edit, withdrawal or lifted reaction of nothing'
  const shared = { ...about, originalId }
  if (message.type === 'revoke') return { type: 'withdrawn', ...shared }
  if (message.type === 'reaction') return { type: 'reaction_lifted', ...shared }
  const said = readContent(objectOf(inner.message))
  // What cannot be shown must not take the place of what could.
  if (said === null || said.kind === 'system') return 'edit that says nothing'
  return { type: 'edited', text: said.text.slice(0, maxTextLength).toWellFormed(), ...shared }
}
