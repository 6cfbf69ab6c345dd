import type { KeptDetail, Message, Revision } from '../conversation/message.ts'
import type { CustomerEvent } from './group-events.ts'

/** What is told of a message that was there before. */
export type RevisionEvent = Extract<CustomerEvent, { originalId: string }>

export const isRevision = (event: CustomerEvent): event is RevisionEvent => 'originalId' in event

/** How many former texts are kept of a message, beyond which the oldest go, and how much of each: a page opens them all. */
const [maxFormer, maxFormerLength] = [10, 4096]

const untouched: Revision = { editedAt: null, withdrawnAt: null, former: [] }

/**
 * The message as its author made it, whatever order their changes come in; the same object when this one changes nothing:
 * it was told before, something newer was, or the message is withdrawn.
 */
export function revise(message: Message, event: RevisionEvent, keepsFormer: boolean): Message {
  const revision = message.revision ?? untouched
  if (revision.withdrawnAt !== null) return message
  return event.type === 'edited'
    ? edit(message, revision, event, keepsFormer)
    : withdraw(message, revision, event, keepsFormer)
}

function edit(
  message: Message,
  revision: Revision,
  { text, at }: Extract<RevisionEvent, { type: 'edited' }>,
  keepsFormer: boolean,
): Message {
  const isOld = revision.editedAt !== null && at <= new Date(revision.editedAt)
  if (isOld || message.kind === 'system') return message
  const former = text === message.text ? revision.former : formerOf(message, revision)
  return { ...message, text, revision: { ...revision, editedAt: at.toISOString(), former: keepsFormer ? former : [] } }
}

function withdraw(message: Message, revision: Revision, { at }: RevisionEvent, keepsFormer: boolean): Message {
  const former = keepsFormer && message.text !== '' ? formerOf(message, revision) : revision.former
  const kept = { ...revision, withdrawnAt: at.toISOString(), former: keepsFormer ? former : [] }
  const { detail, ...rest } = message
  const left = leftOf(detail, keepsFormer)
  return { ...rest, text: '', revision: kept, ...(left !== undefined && { detail: left }) }
}

function formerOf({ text, occurredAt }: Message, { editedAt, former }: Revision): Revision['former'] {
  const shown = text.slice(0, maxFormerLength).toWellFormed()
  return [...former, { text: shown, at: editedAt ?? occurredAt.toISOString() }].slice(-maxFormer)
}

/** The file is nobody's any more; which message a reaction was about says nothing by itself. */
function leftOf(detail: KeptDetail | undefined, keepsFormer: boolean): KeptDetail | undefined {
  if (detail === undefined) return undefined
  const { media: _media, ...rest } = detail
  if (keepsFormer) return Object.keys(rest).length === 0 ? undefined : rest
  return rest.reaction === undefined ? undefined : { reaction: { ...rest.reaction, emoji: '' } }
}
