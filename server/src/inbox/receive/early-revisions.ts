import type { Tx } from '../../base/db.ts'
import { decryptOrNull } from '../../base/encryption/encrypt.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { createMentionTest, type ErasureScope } from '../../base/erasure.ts'
import { newId } from '../../base/id.ts'
import type { Customer } from '../../channels/channel-event.ts'
import type { Contact, Conversation, WorkspaceTx } from '../conversation/conversation.ts'
import { matchCustomer, updateContact } from '../conversation/customer.ts'
import { externalIndex } from '../conversation/encrypted-conversation.ts'
import type { Message, Revision, StoredDetail } from '../conversation/message.ts'
import { lockIds } from '../conversation/message-queries.ts'
import type { CustomerEvent, ReceiveContext } from './receiver.ts'

/** Other bytes of the digest than for status locks, which follow a conversation's lock; these precede it. */
export const lockOffset = 8

/** Returns the platform ids of messages for which an event may have or need parked revisions. */
export function relatedIds(event: CustomerEvent): string[] {
  if (isRevision(event)) return [event.originalId]
  if (!('externalId' in event)) return []
  const about = event.detail?.reaction?.externalId
  return about === undefined ? [event.externalId] : [event.externalId, about]
}

/**
 * Makes looking up a message and parking its revision atomic, as well as reading parked revisions and inserting the
 * message, where no conversation exists to lock. Call it before locking a conversation.
 */
export function lockRelatedIds(
  { tx, keyring }: WorkspaceTx,
  events: readonly { connectionId: string; event: CustomerEvent }[],
): Promise<void> {
  const indexes = events.flatMap(({ connectionId, event }) =>
    relatedIds(event).map((id) => externalIndex(keyring, connectionId, id)),
  )
  return lockIds(tx, indexes, lockOffset)
}

interface ParkedRevision {
  id: string
  content: Buffer
}

const encryptionContext = (id: string) => ({ table: 'parked_revisions', row: id, column: 'content' })

/** Maximum number of parked revisions per workspace; the oldest are deleted. */
const maxParked = 1000

/** Stores a revision of a message that has not arrived yet. A repeat changes nothing. */
export async function parkRevision(
  { tx, keyring, workspaceId, receiver: { id: connectionId }, now }: ReceiveContext,
  conversationId: string | null,
  event: RevisionEvent,
): Promise<void> {
  const id = newId(now)
  const { count } = await tx`
    insert into parked_revisions (
      workspace_id, id, connection_id, about_index, conversation_id, type, direction, content, occurred_at, parked_at
    )
    values (
      ${workspaceId}, ${id}, ${connectionId}, ${externalIndex(keyring, connectionId, event.originalId)},
      ${conversationId}, ${event.type}, ${event.direction}, ${keyring.encrypt(encryptionContext(id), JSON.stringify(event))}, ${event.at}, ${now}
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

/** Applies parked revisions to a message about to be inserted, and deletes them. */
export async function applyEarlyRevisions(
  { tx, keyring, workspaceId }: WorkspaceTx,
  conversation: Conversation,
  customer: Customer,
  message: Message,
): Promise<Message> {
  const { connectionId, externalId, detail } = message
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

/** Erases a customer's parked revisions that belong to no conversation; the others are erased with theirs. */
export async function eraseEarlyRevisions(tx: Tx, { workspaceId, keyring, customer }: ErasureScope): Promise<void> {
  const rows = await tx<ParkedRevision[]>`
    select id, content
    from parked_revisions
    where workspace_id = ${workspaceId}
      and conversation_id is null
    order by id
    limit ${maxParked}`
  const mentions = createMentionTest(customer)
  const erased = rows.filter(({ id, content }) => {
    const text = decryptOrNull(() => keyring.decryptText(encryptionContext(id), content))
    return text !== null && (mentions(text) || customer.userIds.some((userId) => text.includes(JSON.stringify(userId))))
  })
  if (erased.length === 0) return
  await tx`
    delete from parked_revisions
    where workspace_id = ${workspaceId}
      and id = any (${erased.map(({ id }) => id)}::uuid[])`
}

const secondMs = 1000

/** Same rules as for stored messages: only from the author, and for reactions only those up to that second. */
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

/** Event that changes an earlier message. */
export type RevisionEvent = Extract<CustomerEvent, { originalId: string }>

export const isRevision = (event: CustomerEvent): event is RevisionEvent => 'originalId' in event

/** Maximum number of former texts kept per message (the newest) and their maximum length; a page decrypts them all. */
const [maxFormer, maxFormerLength] = [10, 4096]

const noRevision: Revision = { editedAt: null, withdrawnAt: null, former: [] }

/**
 * Returns the message with a change of its author applied, in whatever order changes arrive. Returns the same object if
 * the change has no effect: repeated, older than the last one, or the message is withdrawn.
 */
export function revise(message: Message, event: RevisionEvent, keepsFormer: boolean): Message {
  const revision = message.revision ?? noRevision
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
  const remaining = remainingDetail(detail, keepsFormer)
  return { ...rest, text: '', revision: kept, ...(remaining !== undefined && { detail: remaining }) }
}

function formerOf({ text, occurredAt }: Message, { editedAt, former }: Revision): Revision['former'] {
  const shown = text.slice(0, maxFormerLength).toWellFormed()
  return [...former, { text: shown, at: editedAt ?? occurredAt.toISOString() }].slice(-maxFormer)
}

/** Drops the file; without former texts, keeps only the target of a reaction, which reveals nothing by itself. */
function remainingDetail(detail: StoredDetail | undefined, keepsFormer: boolean): StoredDetail | undefined {
  if (detail === undefined) return undefined
  const { media: _media, ...rest } = detail
  if (keepsFormer) return Object.keys(rest).length === 0 ? undefined : rest
  return rest.reaction === undefined ? undefined : { reaction: { ...rest.reaction, emoji: '' } }
}
