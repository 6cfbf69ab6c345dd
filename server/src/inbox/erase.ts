import type { Sql, Tx } from '../base/db.ts'
import { decryptOrNull } from '../base/encryption/encrypt.ts'
import { publishErasure } from '../base/encryption/key-store.ts'
import type { Keyring } from '../base/encryption/keyring.ts'
import {
  createStep,
  type ErasedCustomer,
  type ErasureScope,
  type ErasureStep,
  finishedStep,
  type RemovedCounts,
} from '../base/erasure.ts'
import { byteaArray } from '../base/postgres/values.ts'
import { currentColumns, deleteConversation } from './conversation/activity-columns.ts'
import { type Contact, publishConversations, publishMentions, type WorkspaceSql } from './conversation/conversation.ts'
import { decryptContact, phoneIndexes, userIndexes } from './conversation/encrypted-conversation.ts'
import { conversationIdsOf } from './conversation/queries.ts'
import { deleteMediaOf } from './media/media-queries.ts'
import { eraseEarlyRevisions } from './receive/early-revisions.ts'
import { deleteConversationTokens, deleteMessageTokens, lockProgress } from './search/progress.ts'
import { wakeWaiting } from './send/send-deps.ts'

const batchSize = 500
/** Above this number the given identifiers cannot belong to one customer. */
const maxFound = 1000

/** Tables with rows of a conversation, besides messages and notes, in the order of erasure. */
const otherTables = [
  ...(['conversation_activities', 'drafts', 'reviews', 'scheduled_messages', 'tasks', 'sequence_runs'] as const),
  ...(['satisfaction_ratings', 'automation_runs', 'missed_goals', 'conversation_handovers'] as const),
]

export interface CustomerConversation {
  id: string
  /** Ids of conversations that were merged into it; events may refer to them. */
  aliases: string[]
  phone: string | null
  userId: string | null
}

/** Returns conversations with these ids, phones or users, on any connection, created before a time. At most 1,001. */
export async function findErasedConversations(
  { sql, keyring, workspaceId }: WorkspaceSql,
  { phones, userIds, conversationIds }: Pick<ErasedCustomer, 'phones' | 'userIds' | 'conversationIds'>,
  before: Date,
): Promise<CustomerConversation[]> {
  const byPhone = phones.flatMap((phone) => phoneIndexes(keyring, phone))
  const byUser = userIds.flatMap((userId) => userIndexes(keyring, userId))
  const rows = await sql<{ id: string; contact: Buffer; aliases: string[] }[]>`
    select c.id, c.contact, array(
      select a.id
      from conversation_aliases a
      where a.workspace_id = ${workspaceId}
        and a.conversation_id = c.id
    ) as aliases
    from conversations c
    where c.workspace_id = ${workspaceId}
      and c.id = any (array(
        select unnest(${conversationIds}::uuid[])
        union
        select conversation_id from conversation_aliases
        where workspace_id = ${workspaceId} and id = any (${conversationIds}::uuid[])
        union
        ${conversationIdsOf(sql, workspaceId, byPhone, byUser)}
      ))
      and c.created_at <= ${before}
    order by c.id
    limit ${maxFound + 1}`
  return rows.map(({ id, contact, aliases }) => ({ id, aliases, ...identifiersOf(keyring, id, contact) }))
}

// A contact that cannot be decrypted is erased by the conversation's id.
function identifiersOf(keyring: Keyring, id: string, encrypted: Buffer): Pick<Contact, 'phone' | 'userId'> {
  return decryptOrNull(() => decryptContact(keyring, id, encrypted)) ?? { phone: null, userId: null }
}

/** Erases one batch of the customer's next conversation. */
export async function eraseConversations(tx: Tx, scope: ErasureScope): Promise<ErasureStep> {
  const { workspaceId, customer } = scope
  const [next] = await tx<{ id: string }[]>`
    select id
    from conversations
    where workspace_id = ${workspaceId}
      and id = any (${customer.conversationIds}::uuid[])
    order by id
    limit 1`
  if (next === undefined) {
    await eraseEarlyRevisions(tx, scope)
    return finishedStep
  }
  const { removed } = await eraseConversation(tx, workspaceId, next.id)
  return createStep(removed, true)
}

export async function countConversationRows(
  sql: Sql,
  workspaceId: string,
  ids: readonly string[],
): Promise<RemovedCounts> {
  const [counted] = await sql<{ messages: number; files: number; notes: number }[]>`
    select
      (select count(*)::integer from messages where workspace_id = ${workspaceId}
        and conversation_id = any (${[...ids]}::uuid[])) as messages,
      (select count(*)::integer from media where workspace_id = ${workspaceId}
        and conversation_id = any (${[...ids]}::uuid[])) as files,
      (select count(*)::integer from conversation_notes where workspace_id = ${workspaceId}
        and conversation_id = any (${[...ids]}::uuid[])) as notes`
  return { conversations: ids.length, ...counted }
}

/**
 * Erases one batch of a conversation, oldest messages first, and deletes the conversation with the last batch. Messages
 * that the customer writes until then are erased too; later ones start a new conversation. `idleSince` spares a
 * conversation with a message since then.
 */
export async function eraseConversation(
  tx: Tx,
  workspaceId: string,
  conversationId: string,
  idleSince: Date | null = null,
): Promise<ErasureStep> {
  const [conversation] = await tx`
    select id
    from conversations c
    where workspace_id = ${workspaceId}
      and id = ${conversationId}
      ${idleSince === null ? tx`` : tx`and ${currentColumns.lastMessageAt(tx)} < ${idleSince}`}
    for update`
  if (conversation === undefined) return finishedStep
  publishErasure(tx, workspaceId)
  // Prevents indexing of the rows being erased.
  await lockProgress(tx, workspaceId)
  const messages = await eraseMessages(tx, workspaceId, conversationId)
  if (messages.messages === batchSize) return createStep(messages, true)
  const notes = await eraseNotes(tx, workspaceId, conversationId)
  const removed: RemovedCounts = { ...messages, notes }
  if (notes === batchSize) return createStep(removed, true)
  for (const table of otherTables) {
    const erased = await eraseNext(tx, table, workspaceId, conversationId)
    if (table === 'conversation_activities') removed.activities = erased
    if (table === 'conversation_handovers') removed.handovers = erased
    if (erased === batchSize) return createStep(removed, true)
  }
  await deleteConversationTokens(tx, workspaceId, [conversationId])
  await deleteConversation(tx, workspaceId, conversationId)
  // Sums keep the charges, which name nobody.
  await tx`
    update message_charges
    set conversation_id = null
    where workspace_id = ${workspaceId}
      and conversation_id = ${conversationId}`
  await tx`
    update broadcast_recipients
    set conversation_id = null,
      message_id = null,
      status = case when status = 'sending' then 'failed' else status end
    where workspace_id = ${workspaceId}
      and conversation_id = ${conversationId}`
  await tx`
    delete from silence_reminders
    where workspace_id = ${workspaceId}
      and conversation_id = ${conversationId}`
  await tx`
    delete from send_paces
    where workspace_id = ${workspaceId}
      and id = ${conversationId}`
  publishConversations(tx, workspaceId, [conversationId])
  await wakeWaiting(tx, conversationId)
  return createStep({ ...removed, conversations: 1 }, false)
}

/** Erases messages with their parts, sends, and statuses that arrived before them. */
async function eraseMessages(tx: Tx, workspaceId: string, conversationId: string): Promise<RemovedCounts> {
  await tx`
    delete from parked_revisions
    where workspace_id = ${workspaceId}
      and conversation_id = ${conversationId}`
  const messages = await tx<{ id: string; connection_id: string; external_index: Buffer | null }[]>`
    select id, connection_id, external_index
    from messages
    where workspace_id = ${workspaceId}
      and conversation_id = ${conversationId}
    order by occurred_at
    limit ${batchSize}`
  if (messages.length === 0) return { messages: 0 }
  const ids = messages.map(({ id }) => id)
  const parts = await tx<{ connection_id: string; external_index: Buffer | null }[]>`
    delete from message_parts
    where workspace_id = ${workspaceId}
      and message_id = any (${ids}::uuid[])
    returning connection_id, external_index`
  const sends = await tx`
    delete from sends
    where workspace_id = ${workspaceId}
      and message_id = any (${ids}::uuid[])`
  const indexed = [...messages, ...parts].filter(({ external_index: index }) => index !== null)
  await tx`
    delete from parked_statuses p
    using unnest(
      ${indexed.map((one) => one.connection_id)}::uuid[],
      ${byteaArray(indexed.map((one) => one.external_index))}::bytea[]
    ) as t (connection_id, external_index)
    where p.workspace_id = ${workspaceId}
      and p.connection_id = t.connection_id
      and p.external_index = t.external_index`
  // Deletes the file keys with the rows, so the files can no longer be decrypted; a cleanup job deletes their bytes.
  const files = await deleteMediaOf(tx, workspaceId, ids)
  await deleteMessageTokens(tx, workspaceId, ids)
  await tx`
    delete from messages
    where workspace_id = ${workspaceId}
      and id = any (${ids}::uuid[])`
  return { messages: messages.length, sends: sends.count, files }
}

async function eraseNotes(tx: Tx, workspaceId: string, conversationId: string): Promise<number> {
  const notes = await tx<{ id: string }[]>`
    select id
    from conversation_notes
    where workspace_id = ${workspaceId}
      and conversation_id = ${conversationId}
    order by id
    limit ${batchSize}`
  const ids = notes.map(({ id }) => id)
  if (ids.length === 0) return 0
  const mentioned = await tx<{ user_id: string }[]>`
    delete from note_mentions
    where workspace_id = ${workspaceId}
      and note_id = any (${ids}::uuid[])
    returning user_id`
  for (const { user_id: userId } of mentioned) publishMentions(tx, workspaceId, userId)
  await tx`
    delete from conversation_notes
    where workspace_id = ${workspaceId}
      and id = any (${ids}::uuid[])`
  return ids.length
}

/** Erases the next batch of rows that belong to a conversation. */
async function eraseNext(tx: Tx, table: (typeof otherTables)[number], workspaceId: string, conversationId: string) {
  const erased = await tx`
    delete from ${tx(table)}
    where workspace_id = ${workspaceId}
      and id = any (array(
        select id
        from ${tx(table)}
        where workspace_id = ${workspaceId}
          and conversation_id = ${conversationId}
        order by created_at, id
        limit ${batchSize}
      ))`
  return erased.count
}
