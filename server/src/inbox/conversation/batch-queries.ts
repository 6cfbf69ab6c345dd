import { areFewRows, insertedRows } from '../../base/citus/few-rows.ts'
import type { Fragment, Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import type { Columns } from '../../base/postgres/rows.ts'
import { assignments, columnNames, unnested } from '../../base/postgres/rows.ts'
import { byteaArray, timestampArray } from '../../base/postgres/values.ts'
import type { Customer } from '../../channels/channel-event.ts'
import { touchConversations } from './activity-columns.ts'
import { type Conversation, type LastMessage, publishConversations, type WorkspaceTx } from './conversation.ts'
import {
  type ConversationRow,
  decryptConversation,
  encodeGoal,
  encryptContact,
  encryptConversation,
  encryptLastMessage,
  ownerOf,
  phoneIndexes,
  type StoredConversation,
  userIndexes,
} from './encrypted-conversation.ts'
import { keyIdOf } from './owner.ts'
import { conversationColumns, opaqueWorkspaceId } from './queries.ts'

// Batch versions of the queries in neighboring files: one statement for many conversations. Each index value is looked
// up by its index; `offset 0` keeps the planner from scanning the workspace instead.

export interface ConnectionCustomer {
  connectionId: string
  customer: Customer
}

// Placeholder for the last message. Callers need to know only whether there is one, and decrypting it would double the
// time of reading a conversation.
const undecryptedMessage: LastMessage = Object.freeze({ direction: 'inbound', kind: 'text', text: '' })

/**
 * Locks the conversations of these customers, found by user id or phone, in id order. The last message is not
 * decrypted: `storeConversations` keeps the stored one unless a newer message replaces it.
 */
export async function lockConversationsOf(
  { tx, keyring, workspaceId }: WorkspaceTx,
  customers: readonly ConnectionCustomer[],
): Promise<Conversation[]> {
  const users = indexesOfCustomers(customers, 'userId', (userId) => userIndexes(keyring, userId))
  const phones = indexesOfCustomers(customers, 'phone', (phone) => phoneIndexes(keyring, phone))
  const rows = await (areFewRows(tx, [...users, ...phones]) && users.length * phones.length === 0
    ? lockByOneIndex(tx, workspaceId, users.length > 0 ? 'user_index' : 'phone_index', [...users, ...phones])
    : lockByIndexes(tx, workspaceId, users, phones))
  return rows.map((row) => ({
    ...decryptConversation(keyring, row),
    lastMessage: row.has_last_message ? undecryptedMessage : null,
  }))
}

type LockedRow = ConversationRow & { has_last_message: boolean }

const lockedColumns = (tx: Tx) => tx`
  ${conversationColumns(tx, tx`null as last_message`)}, c.last_message is not null as has_last_message`

/** For Citus, which caches the plan of a statement on one table. Also locks those customers on others of the connections. */
async function lockByOneIndex(
  tx: Tx,
  workspaceId: string,
  column: 'user_index' | 'phone_index',
  names: readonly CustomerIndex[],
): Promise<LockedRow[]> {
  return tx<LockedRow[]>`
    select ${lockedColumns(tx)}
    from conversations c
    where c.workspace_id = ${workspaceId}
      and c.connection_id = any (${[...new Set(names.map(({ connectionId }) => connectionId))]}::uuid[])
      and ${tx(`c.${column}`)} = any (${byteaArray(names.map(({ index }) => index))}::bytea[])
    order by c.id
    for update of c`
}

async function lockByIndexes(
  tx: Tx,
  workspaceId: string,
  users: readonly CustomerIndex[],
  phones: readonly CustomerIndex[],
): Promise<LockedRow[]> {
  const workspace = opaqueWorkspaceId(tx, workspaceId)
  const unnestIndexes = (names: readonly CustomerIndex[]) => tx`
    unnest(
      ${names.map(({ connectionId }) => connectionId)}::uuid[],
      ${byteaArray(names.map(({ index }) => index))}::bytea[]
    ) as n (connection_id, name)`
  return tx<LockedRow[]>`
    select ${lockedColumns(tx)}
    from conversations c
    where c.workspace_id = ${workspace}
      and c.id = any (array(
        select u.id
        from ${unnestIndexes(users)}
        cross join lateral (
          select id from conversations
          where workspace_id = ${workspace} and connection_id = n.connection_id and user_index = n.name
          offset 0
        ) as u
        union all
        select p.id
        from ${unnestIndexes(phones)}
        cross join lateral (
          select id from conversations
          where workspace_id = ${workspace} and connection_id = n.connection_id and phone_index = n.name
          offset 0
        ) as p
      ))
    order by c.id
    for update of c`
}

/** Blind index of a customer's user id or phone on a connection. */
interface CustomerIndex {
  connectionId: string
  index: Buffer
}

/** Returns each index value once, however often its customer occurs. */
function indexesOfCustomers(
  customers: readonly ConnectionCustomer[],
  field: 'userId' | 'phone',
  indexesOf: (name: string) => Buffer[],
): CustomerIndex[] {
  const names = new Map<string, CustomerIndex[]>()
  for (const { connectionId, customer } of customers) {
    const name = customer[field]
    const key = `${connectionId} ${name}`
    if (name === null || names.has(key)) continue
    const indexes = indexesOf(name).map((index) => ({ connectionId, index }))
    names.set(key, indexes)
  }
  return [...names.values()].flat()
}

/** Inserts conversations of new customers. Throws if another transaction has inserted one of them. */
export async function insertConversations(work: WorkspaceTx, conversations: readonly Conversation[]): Promise<void> {
  const { tx, keyring, workspaceId } = work
  if (conversations.length === 0) return
  const newIds = conversations.map(({ id }) => id)
  publishConversations(tx, workspaceId, newIds)
  // Same order in all transactions, to prevent deadlocks between two that insert the same conversations.
  const rows = conversations
    .map((conversation) => ({ ...encryptConversation(keyring, conversation), name: sortKeyOf(conversation) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
  await tx`
    insert into conversations (workspace_id, label_ids, index_version, ${columnNames(newConversationColumns)})
    select ${workspaceId}::uuid, '{}', ${keyring.indexVersion}, n.*
    from ${unnested(rows, newConversationColumns)}`.execute()
}

/** Columns of a new conversation, by type. */
const newConversationColumns = {
  uuid: [
    ...(['id', 'connection_id', 'owner_key_id', 'assigned_to', 'team_id'] as const),
    ...(['newest_inbound_id', 'answered_inbound_id'] as const),
  ],
  text: ['channel', 'status', 'thread_owner'],
  integer: ['owner_epoch', 'unread_count'],
  boolean: ['held'],
  bytea: ['contact', 'user_index', 'phone_index', 'phone_exact_index', 'last_message'],
  jsonb: ['goal'],
  timestamptz: [
    ...(['owner_since', 'window_expires_at', 'last_message_at', 'unanswered_since'] as const),
    ...(['thread_at', 'created_at', 'updated_at', 'goal_due_at'] as const),
  ],
} as const satisfies Columns<StoredConversation>

const sortKeyOf = ({ connectionId, contact }: Conversation): string =>
  `${connectionId} ${contact.phone ?? ''} ${contact.userId ?? ''}`

/** A conversation as locked, and as it is stored. */
export interface ConversationUpdate {
  before: Conversation
  after: Conversation
}

const unchangedContact = { contact: null, user_index: null, phone_index: null, phone_exact_index: null }

/**
 * Stores everything that messages can change, under the locks that the conversations were read with. Does not store the
 * owner, the assignee or the platform's owner of the thread: a change of owner waits for sends (`storeConversation`). A
 * message can end a handover but not start one.
 */
export async function storeConversations(work: WorkspaceTx, changes: readonly ConversationUpdate[]): Promise<void> {
  const { tx, keyring, workspaceId } = work
  if (changes.length === 0) return
  if (changes.some(({ before, after }) => keyIdOf(before.owner) !== keyIdOf(after.owner))) {
    throw new TypeError('storeConversations cannot change the owner; use storeConversation')
  }
  const changedIds = changes.map(({ after }) => after.id)
  publishConversations(tx, workspaceId, changedIds)
  // Encrypts contact and last message only if they changed.
  const rows = changes.map(({ before, after }) => ({
    ...after,
    isRenamed: before.contact !== after.contact,
    ...(before.contact === after.contact ? unchangedContact : encryptContact(keyring, after)),
    isHanded: after.handover !== null,
    isSaid: before.lastMessage !== after.lastMessage,
    lastMessage: before.lastMessage === after.lastMessage ? null : encryptLastMessage(keyring, after),
    newestInboundId: after.inbound.newest,
    seenInboundId: after.inbound.seen,
    answeredInboundId: after.inbound.answered,
    nowUnreadCount: after.unreadCount,
    nowLastMessageAt: after.lastMessageAt,
    nowUnansweredSince: after.unansweredSince,
    nowUpdatedAt: after.updatedAt,
    ...storedGoal(after),
  }))
  const ids = rows.map(({ id }) => id)
  const times = timestampArray(rows.map(({ updatedAt }) => updatedAt))
  if (areFewRows(tx, rows)) {
    const moved = tx`
      insert into moving_conversations (workspace_id, conversation_id, since)
      ${insertedRows(tx, tx`${workspaceId}::uuid`, rows, movedColumns)}
      on conflict do nothing`
    const updates = rows.map(
      (row) => tx`
        update conversations
        set is_moving = true,
          ${assignments(storedColumns, row)}
          ${row.isRenamed ? tx`, index_version = ${keyring.indexVersion}, ${assignments(contactColumns, row)}` : tx``}
          ${row.isSaid ? tx`, ${assignments(lastMessageColumns, row)}` : tx``}
          ${row.isHanded ? tx`` : tx`, handover = null`}
        where workspace_id = ${workspaceId}
          and id = ${row.id}`,
    )
    await Promise.all([moved, ...updates].map((statement) => statement.execute()))
    return
  }
  const hasRenamed = rows.some(({ isRenamed }) => isRenamed)
  await tx`
    with moved as (${touchConversations(tx, workspaceId, ids, times)})
    update conversations c
    set ${hasRenamed ? setContact(tx, keyring) : tx``}
      handover = case when n.is_handed then c.handover end,
      last_message = case when n.is_said then n.last_message else c.last_message end,
      is_moving = true,
      ${assignments(storedColumns)}
    from ${unnested(rows, hasRenamed ? renamedColumns : messageColumns)}
    where c.workspace_id = ${opaqueWorkspaceId(tx, workspaceId)}
      and c.id = n.id`.execute()
}

function storedGoal({ goal }: Conversation) {
  const { goal: json, goal_due_at: nowGoalDueAt, goal_missed_at: goalMissedAt } = encodeGoal(goal)
  return { goal: json, nowGoalDueAt, goalMissedAt }
}

/** Columns that messages can change. */
const storedColumns = {
  uuid: ['newestInboundId', 'seenInboundId', 'answeredInboundId'],
  text: ['status'],
  integer: ['nowUnreadCount'],
  boolean: ['held'],
  timestamptz: [
    ...(['snoozedUntil', 'windowExpiresAt'] as const),
    ...(['nowLastMessageAt', 'nowUnansweredSince', 'nowUpdatedAt', 'nowGoalDueAt', 'goalMissedAt'] as const),
  ],
  jsonb: ['goal'],
} as const
const contactColumns = { bytea: ['contact', 'user_index', 'phone_index', 'phone_exact_index'] } as const
const lastMessageColumns = { bytea: ['lastMessage'] } as const
const movedColumns = { uuid: ['id'], timestamptz: ['updatedAt'] } as const

const messageColumns = {
  ...storedColumns,
  uuid: ['id', ...storedColumns.uuid],
  boolean: ['isHanded', 'isSaid', ...storedColumns.boolean],
  ...lastMessageColumns,
} as const

/** The same, and the contact, which few messages change: then the statement is another one. */
const renamedColumns = {
  ...messageColumns,
  boolean: ['isRenamed', ...messageColumns.boolean],
  bytea: [...contactColumns.bytea, ...messageColumns.bytea],
} as const

const setContact = (tx: Tx, keyring: Keyring): Fragment => tx`
  contact = case when n.is_renamed then n.contact else c.contact end,
  user_index = case when n.is_renamed then n.user_index else c.user_index end,
  phone_index = case when n.is_renamed then n.phone_index else c.phone_index end,
  phone_exact_index = case when n.is_renamed then n.phone_exact_index else c.phone_exact_index end,
  index_version = case when n.is_renamed then ${keyring.indexVersion} else c.index_version end,`

/**
 * Locks conversations in id order. Omits conversations that were merged into another. `skipLocked` also omits those
 * locked by others instead of waiting.
 */
export async function lockConversations(
  tx: Tx,
  workspaceId: string,
  ids: readonly string[],
  { skipLocked = false }: { skipLocked?: boolean } = {},
): Promise<Pick<Conversation, 'id' | 'connectionId' | 'channel' | 'owner'>[]> {
  const rows = await tx<Pick<ConversationRow, 'id' | 'connection_id' | 'channel' | 'owner_key_id'>[]>`
    select c.id, c.connection_id, c.channel, c.owner_key_id
    from conversations c
    where c.workspace_id = ${opaqueWorkspaceId(tx, workspaceId)}
      and c.id = any (${[...ids]}::uuid[])
    order by c.id
    for update of c ${skipLocked ? tx`skip locked` : tx``}`
  return rows.map((row) => ({
    id: row.id,
    connectionId: row.connection_id,
    channel: row.channel,
    owner: ownerOf(row),
  }))
}

/** Locks conversations for a change, resolving merged ids, in the order of the current ids. */
export async function lockByIds(work: WorkspaceTx, ids: readonly string[]): Promise<Conversation[]> {
  const { tx, keyring, workspaceId } = work
  const workspace = opaqueWorkspaceId(tx, workspaceId)
  const rows = await tx<ConversationRow[]>`
    select ${conversationColumns(tx)}
    from conversations c
    where c.workspace_id = ${workspace}
      and c.id = any (array(
        select coalesce(
          (select a.conversation_id from conversation_aliases a where a.workspace_id = ${workspace} and a.id = n.id),
          n.id
        )
        from unnest(${[...ids]}::uuid[]) as n (id)
      ))
    order by c.id
    for update of c`
  return rows.map((row) => decryptConversation(keyring, row))
}

/** Waits until transactions that hold locks of these conversations have ended. Locks in id order, returns nothing. */
export async function waitForConversationLocks(tx: Tx, workspaceId: string, ids: readonly string[]): Promise<void> {
  await tx`
    select count(*)
    from (
      select c.id
      from conversations c
      where c.workspace_id = ${opaqueWorkspaceId(tx, workspaceId)}
        and c.id = any (${[...new Set(ids)]}::uuid[])
      order by c.id
      for update of c
    ) as held`.execute()
}
