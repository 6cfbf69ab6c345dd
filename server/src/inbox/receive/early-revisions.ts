import type { Tx } from '../../base/db.ts'
import { decryptOrNull } from '../../base/encryption/encrypt.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { newId } from '../../base/id.ts'
import type { Customer } from '../../channels/channel-event.ts'
import type { Contact, Conversation } from '../conversation/conversation.ts'
import { matchCustomer, updateContact } from '../conversation/customer.ts'
import { externalIndex } from '../conversation/encrypted-conversation.ts'
import type { Message, Revision, StoredDetail } from '../conversation/message.ts'
import { lockIds } from './early-statuses.ts'
import type { CustomerEvent, ReceiveContext, ReceivingConnection } from './receiver.ts'

/** Another part of the digest than statuses are locked by: those come behind a conversation's lock, these before. */
export const lockOffset = 8

/** The messages that an event is or is about, as far as revisions may wait for them. */
export function awaitedIds(event: CustomerEvent): string[] {
  if (isRevision(event)) return [event.originalId]
  if (!('externalId' in event)) return []
  const about = event.detail?.reaction?.externalId
  return about === undefined ? [event.externalId] : [event.externalId, about]
}

/**
 * Makes "is the message here?" and "park it", and on the other side "is anything parked?" and "here it is", one step each where
 * no conversation is there to be locked. To be called before one is.
 */
export function lockAwaited(
  tx: Tx,
  keyring: Keyring,
  events: readonly { connectionId: string; event: CustomerEvent }[],
): Promise<void> {
  const indexes = events.flatMap(({ connectionId, event }) =>
    awaitedIds(event).map((id) => externalIndex(keyring, connectionId, id)),
  )
  return lockIds(tx, indexes, lockOffset)
}

interface ParkedRevision {
  id: string
  content: Buffer
}

const encryptionContext = (id: string) => ({ table: 'parked_revisions', row: id, column: 'content' })

/** How many wait in a workspace at most; the oldest go. */
const maxParked = 1000

/** Keeps what is told of a message that is not here yet. A repeat changes nothing. */
export async function parkRevision(
  tx: Tx,
  { keyring, receiver: { workspaceId, id: connectionId }, now }: ReceiveContext,
  conversationId: string | null,
  event: RevisionEvent,
): Promise<void> {
  const id = newId(now)
  const { count } = await tx`
    insert into parked_revisions (
      workspace_id, id, connection_id, about_index, conversation_id, type, content, occurred_at, parked_at
    )
    values (
      ${workspaceId}, ${id}, ${connectionId}, ${externalIndex(keyring, connectionId, event.originalId)},
      ${conversationId}, ${event.type}, ${keyring.encrypt(encryptionContext(id), JSON.stringify(event))}, ${event.at}, ${now}
    )
    on conflict do nothing`
  if (count === 0) return
  await tx`
    delete from parked_revisions
    where workspace_id = ${workspaceId}
      and id in (
        select id
        from parked_revisions
        where workspace_id = ${workspaceId}
        order by id desc
        offset ${maxParked}
      )`
}

/** The message that is about to be added, as its author has made it since; what was parked for it is parked no more. */
export async function applyEarlyRevisions(
  tx: Tx,
  keyring: Keyring,
  { workspaceId, id: connectionId }: Pick<ReceivingConnection, 'workspaceId' | 'id'>,
  conversation: Conversation,
  customer: Customer,
  message: Message,
): Promise<Message> {
  const { externalId, detail } = message
  if (externalId === null) return message
  const ids = [externalId, ...(detail?.reaction === undefined ? [] : [detail.reaction.externalId])]
  const rows = await tx<ParkedRevision[]>`
    select id, content
    from parked_revisions
    where workspace_id = ${workspaceId}
      and connection_id = ${connectionId}
      and about_index = any (${ids.map((id) => externalIndex(keyring, connectionId, id))}::bytea[])
    order by occurred_at, id
    limit ${maxParked}`
  const contact = updateContact(conversation.contact, customer, 'customer')
  const applied = rows.flatMap(({ id, content }) => {
    const event = decryptEvent(keyring, id, content)
    return event !== null && belongsTo(message, contact, event) ? [{ id, event }] : []
  })
  if (applied.length === 0) return message
  await tx`
    delete from parked_revisions
    where workspace_id = ${workspaceId}
      and id = any (${applied.map(({ id }) => id)}::uuid[])`
  const keepsFormer = await keepsFormerTexts(tx, workspaceId)
  return applied.reduce((revised, { event }) => revise(revised, event, keepsFormer), message)
}

function decryptEvent(keyring: Keyring, id: string, content: Buffer): RevisionEvent | null {
  const text = decryptOrNull(() => keyring.decryptText(encryptionContext(id), content))
  if (text === null) return null
  const event = JSON.parse(text) as RevisionEvent
  return { ...event, at: new Date(event.at) }
}

const secondMs = 1000

/** The same rules as for a message that is here: its author's alone, and of reactions those up to that second. */
function belongsTo(message: Message, contact: Contact, event: RevisionEvent): boolean {
  if (event.direction !== message.direction || !matchesContact(contact, event.customer)) return false
  if (event.type !== 'reaction_lifted') return event.originalId === message.externalId
  const isAbout = message.detail?.reaction?.externalId === event.originalId
  return isAbout && message.occurredAt.getTime() < event.at.getTime() + secondMs
}

const matchesContact = (contact: Contact, customer: Customer): boolean => {
  const { own, formerHolder } = matchCustomer([{ id: 'own', contact } as Conversation], customer)
  return own !== null && formerHolder === null
}

export async function keepsFormerTexts(tx: Tx, workspaceId: string): Promise<boolean> {
  const [row] = await tx<{ keep_former_texts: boolean }[]>`
    select keep_former_texts
    from workspaces
    where id = ${workspaceId}`
  return row?.keep_former_texts ?? false
}

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
  const left = remainingDetail(detail, keepsFormer)
  return { ...rest, text: '', revision: kept, ...(left !== undefined && { detail: left }) }
}

function formerOf({ text, occurredAt }: Message, { editedAt, former }: Revision): Revision['former'] {
  const shown = text.slice(0, maxFormerLength).toWellFormed()
  return [...former, { text: shown, at: editedAt ?? occurredAt.toISOString() }].slice(-maxFormer)
}

/** The file is nobody's any more; which message a reaction was about says nothing by itself. */
function remainingDetail(detail: StoredDetail | undefined, keepsFormer: boolean): StoredDetail | undefined {
  if (detail === undefined) return undefined
  const { media: _media, ...rest } = detail
  if (keepsFormer) return Object.keys(rest).length === 0 ? undefined : rest
  return rest.reaction === undefined ? undefined : { reaction: { ...rest.reaction, emoji: '' } }
}
