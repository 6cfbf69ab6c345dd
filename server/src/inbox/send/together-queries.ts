import type { Fragment, Tx } from '../../base/db.ts'
import { andNamed } from '../../base/distribution/spread.ts'
import { byteaArray, timestampArray } from '../../base/postgres/values.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import { noteEveryMs } from '../../channels/health/activity.ts'
import type { Conversation } from '../conversation/conversation.ts'
import { tellTeam } from '../conversation/conversation-news.ts'
import { move } from '../conversation/moving.ts'
import { anyWorkspace, conversationColumns } from '../conversation/queries.ts'
import { type ConversationRow, openConversation, sealLastMessage } from '../conversation/sealed.ts'

// What the sends of a busy moment do in one statement for all of them. Whoever holds a conversation keeps only its own
// sends waiting: those are left out here, and go alone.

/** A conversation that is locked, and whether a change of owner waits for the calls under way. */
export interface LockedConversation {
  conversation: Conversation
  isHeld: boolean
}

/** The conversations that nobody else has locked. */
export async function lockFreeConversations(
  tx: Tx,
  keyring: Keyring,
  workspaceId: string,
  ids: readonly string[],
): Promise<LockedConversation[]> {
  const rows = await tx<(ConversationRow & { is_held: boolean })[]>`
    select ${conversationColumns(tx)}, coalesce(c.starts_held_until > clock_timestamp(), false) as is_held
    from conversations c
    where c.workspace_id = ${anyWorkspace(tx, workspaceId)}
      and c.id = any (${[...ids]}::uuid[])
    order by c.id
    for update of c skip locked`
  return rows.map((row) => ({ conversation: openConversation(keyring, row), isHeld: row.is_held }))
}

/** SQL: the connections of conversations. */
export const connectionsOf = (tx: Tx, workspaceId: string, conversationIds: readonly string[]): Fragment => tx`
  select connection_id
  from conversations
  where workspace_id = ${anyWorkspace(tx, workspaceId)}
    and id = any (${[...conversationIds]}::uuid[])`

/** An Idempotency-Key and whose it is. */
export interface SenderKey {
  senderId: string
  key: string
}

/**
 * The places in this list of those that were used before. Each is compared with the first key from it on, as only the index
 * of keys has an order of them: asked for the key itself, the planner may take another one while the table is small, read
 * all sends of the workspace by it, and keep to that while the table grows.
 */
export async function findUsedKeys(tx: Tx, workspaceId: string, keys: readonly SenderKey[]): Promise<number[]> {
  const workspace = anyWorkspace(tx, workspaceId)
  const rows = await tx<{ place: number }[]>`
    select n.place::integer - 1 as place
    from unnest(
      ${keys.map(({ senderId }) => senderId)}::uuid[],
      ${keys.map(({ key }) => key)}::text[]
    ) with ordinality as n (sender_id, idempotency_key, place)
    cross join lateral (
      select workspace_id, sender_id, idempotency_key from sends
      where (workspace_id, sender_id, idempotency_key) >= (${workspace}, n.sender_id, n.idempotency_key)
        ${andNamed(tx, workspaceId, 'sends')}
      order by workspace_id, sender_id, idempotency_key
      limit 1
    ) as s
    where s.workspace_id = ${workspace}
      and s.sender_id = n.sender_id
      and s.idempotency_key = n.idempotency_key`
  return rows.map(({ place }) => place)
}

export interface ReservedSend extends SenderKey {
  conversationId: string
  connectionId: string
  messageId: string
  fingerprint: Buffer
  parts: number
}

/** Records sends beside their messages. */
export async function insertSends(
  tx: Tx,
  workspaceId: string,
  sends: readonly ReservedSend[],
  now: Date,
): Promise<void> {
  await Promise.all([
    tx`
      insert into sends (
        workspace_id, sender_id, idempotency_key, fingerprint, conversation_id, message_id, created_at
      )
      select ${workspaceId}::uuid, n.*, ${now}::timestamptz
      from unnest(
        ${sends.map(({ senderId }) => senderId)}::uuid[],
        ${sends.map(({ key }) => key)}::text[],
        ${byteaArray(sends.map(({ fingerprint }) => fingerprint))}::bytea[],
        ${sends.map(({ conversationId }) => conversationId)}::uuid[],
        ${sends.map(({ messageId }) => messageId)}::uuid[]
      ) as n`.execute(),
    tx`
      insert into message_parts (workspace_id, message_id, part, connection_id, status)
      select ${workspaceId}::uuid, n.message_id, part, n.connection_id, 'pending'
      from unnest(
        ${sends.map(({ messageId }) => messageId)}::uuid[],
        ${sends.map(({ connectionId }) => connectionId)}::uuid[],
        ${sends.map(({ parts }) => parts)}::integer[]
      ) as n (message_id, connection_id, parts)
      cross join generate_series(1, n.parts) as part`.execute(),
  ])
}

/** Stores what messages of ours have made of conversations, under the locks that they were read with. */
export async function storeOutbound(
  tx: Tx,
  keyring: Keyring,
  workspaceId: string,
  conversations: readonly Conversation[],
): Promise<void> {
  const ids = conversations.map(({ id }) => id)
  tellTeam(tx, workspaceId, ids)
  const times = timestampArray(conversations.map(({ updatedAt }) => updatedAt))
  await tx`
    with moved as (${move(tx, workspaceId, ids, times)})
    update conversations c
    set last_message = n.last_message,
      is_moving = true,
      seen_inbound_id = n.seen_inbound_id,
      answered_inbound_id = n.answered_inbound_id,
      now_unread_count = n.unread_count,
      now_last_message_at = n.last_message_at,
      now_unanswered_since = n.unanswered_since,
      now_updated_at = n.updated_at
    from unnest(
      ${ids}::uuid[],
      ${timestampArray(conversations.map(({ lastMessageAt }) => lastMessageAt))}::timestamptz[],
      ${byteaArray(conversations.map((conversation) => sealLastMessage(keyring, conversation)))}::bytea[],
      ${conversations.map(({ inbound }) => inbound.seen)}::uuid[],
      ${conversations.map(({ inbound }) => inbound.answered)}::uuid[],
      ${conversations.map(({ unreadCount }) => unreadCount)}::integer[],
      ${timestampArray(conversations.map(({ unansweredSince }) => unansweredSince))}::timestamptz[],
      ${times}::timestamptz[]
    ) as n (
      id, last_message_at, last_message, seen_inbound_id, answered_inbound_id, unread_count, unanswered_since, updated_at
    )
    where c.workspace_id = ${anyWorkspace(tx, workspaceId)}
      and c.id = n.id`.execute()
}

/** A send that the platform has accepted, with its only part. */
export interface AcceptedSend {
  conversationId: string
  connectionId: string
  messageId: string
  /** The platform's id: its digest, and sealed for messages/external_id. */
  externalIndex: Buffer
  externalId: Buffer
}

/**
 * The messages of those sends of which the database knows no more than when they were reserved: no status has come, nobody
 * has settled them, and their platform's ids are new. Under the locks of their conversations and of these ids.
 */
export async function findUntold(tx: Tx, workspaceId: string, sends: readonly AcceptedSend[]): Promise<string[]> {
  const workspace = anyWorkspace(tx, workspaceId)
  const rows = await tx<{ message_id: string }[]>`
    select n.message_id
    from unnest(
      ${sends.map(({ messageId }) => messageId)}::uuid[],
      ${sends.map(({ conversationId }) => conversationId)}::uuid[],
      ${sends.map(({ connectionId }) => connectionId)}::uuid[],
      ${byteaArray(sends.map(({ externalIndex }) => externalIndex))}::bytea[]
    ) as n (message_id, conversation_id, connection_id, external_index)
    cross join lateral (
      select from dispatches
      where workspace_id = ${workspace} and message_id = n.message_id and conversation_id = n.conversation_id
        and verdict is null
      offset 0
    ) as d
    cross join lateral (
      select from messages where workspace_id = ${workspace} and id = n.message_id and status = 'pending' offset 0
    ) as m
    where not exists (
      select from messages
      where workspace_id = ${workspace} and connection_id = n.connection_id and external_index = n.external_index
      offset 0
    )
    and not exists (
      select from message_parts
      where workspace_id = ${workspace} and connection_id = n.connection_id and external_index = n.external_index
      offset 0
    )
    and not exists (
      select from parked_statuses
      where workspace_id = ${workspace} and connection_id = n.connection_id and external_index = n.external_index
      offset 0
    )`
  return rows.map((row) => row.message_id)
}

/**
 * Closes sends that were accepted: their messages have what the platform said, and their dispatches go. Parts and answers
 * stay as they were reserved: a part alone is where its message is, and no answer beside no dispatch is `accepted`.
 */
export async function storeAccepted(
  tx: Tx,
  workspaceId: string,
  sends: readonly AcceptedSend[],
  now: Date,
): Promise<void> {
  const workspace = anyWorkspace(tx, workspaceId)
  const ids = sends.map(({ messageId }) => messageId)
  await Promise.all([
    tx`
      update messages m
      set status = 'sent',
        settle_by = null,
        external_id = n.external_id,
        external_index = n.external_index
      from unnest(
        ${ids}::uuid[],
        ${byteaArray(sends.map(({ externalId }) => externalId))}::bytea[],
        ${byteaArray(sends.map(({ externalIndex }) => externalIndex))}::bytea[]
      ) as n (id, external_id, external_index)
      where m.workspace_id = ${workspace}
        and m.id = n.id`.execute(),
    tx`
      delete from dispatches
      where workspace_id = ${workspace}
        and message_id = any (${ids}::uuid[])`.execute(),
    tx`
      update connections
      set last_event_out_at = ${now}
      where workspace_id = ${workspace}
        and id = any (${[...new Set(sends.map(({ connectionId }) => connectionId))].sort()}::uuid[])
        and (last_event_out_at is null or last_event_out_at <= ${new Date(now.getTime() - noteEveryMs)})`.execute(),
  ])
}
