import type { Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { timestampArray } from '../../base/postgres/values.ts'
import type { Customer } from '../../channels/channel-event.ts'
import { recordEvents } from '../../events/record.ts'
import { moveNotifications } from '../../notifications/notifications.ts'
import { systemActor } from '../../workspaces/actor.ts'
import { deleteConversationTokens, lockProgress } from '../search/progress.ts'
import { type ConversationChange, changeOwner, withUpdatedAt } from './change.ts'
import { recordDifference } from './commit-change.ts'
import { type ChangeTx, type Contact, type Conversation, publishConversations } from './conversation.ts'
import { type InboundMarks, laterId, newestInbound } from './conversation-state.ts'
import { type CustomerMatch, matchCustomer, renameContact } from './customer.ts'
import { moveDispatches } from './dispatches.ts'
import { type ConversationRow, decryptConversation, phoneIndexes, userIndexes } from './encrypted-conversation.ts'
import { uniqueTime } from './message.ts'
import { human } from './owner.ts'
import { conversationColumns, storeConversation } from './queries.ts'
import { deleteConversation } from './touch.ts'

/** Where a customer is looked for. */
export interface CustomerScope {
  workspaceId: string
  connectionId: string
}

/**
 * The customer's conversation on the connection, locked; undefined when there is none. Finds it by user id and by any
 * variant of the phone. Two that turn out to be one customer's are merged.
 */
export async function lockCustomer(
  tx: Tx,
  keyring: Keyring,
  scope: CustomerScope,
  customer: Customer,
  now: Date,
): Promise<Conversation | undefined> {
  return (await lockMerged(tx, keyring, scope, customer, now))?.conversation
}

/**
 * The conversation of a customer who goes by another number or user id from now on, locked and under the new names. If
 * they have written under the new ones before, the two are merged.
 */
export async function lockRenamed(
  tx: Tx,
  keyring: Keyring,
  scope: CustomerScope,
  { previous, customer }: { previous: Customer; customer: Customer },
  now: Date,
): Promise<Conversation | undefined> {
  const before = await lockCustomer(tx, keyring, scope, previous, now)
  if (before === undefined) return undefined
  const after = await lockMerged(tx, keyring, scope, customer, now)
  // The new names may lead to the same conversation, and have made it one with another just now.
  const isSame = after?.ids.includes(before.id) ?? true
  const known = after?.conversation ?? before
  const conversation = isSame
    ? known
    : await mergeConversations({ tx, keyring, workspaceId: scope.workspaceId, now }, before, known)
  return { ...conversation, contact: renameContact(conversation.contact, customer) }
}

interface MergedConversation {
  conversation: Conversation
  /** Those that it was before. */
  ids: string[]
}

async function lockMerged(
  tx: Tx,
  keyring: Keyring,
  scope: CustomerScope,
  customer: Customer,
  now: Date,
): Promise<MergedConversation | undefined> {
  const match = matchCustomer(await lockCandidates(tx, keyring, scope, customer), customer)
  await releasePhone(tx, keyring, scope, match, now)
  const { own, duplicate } = match
  if (own === null) return undefined
  if (duplicate === null) return { conversation: own, ids: [own.id] }
  const merged = await mergeConversations({ tx, keyring, workspaceId: scope.workspaceId, now }, own, duplicate)
  await storeConversation({ tx, keyring, workspaceId: scope.workspaceId }, merged)
  return { conversation: merged, ids: [own.id, duplicate.id] }
}

/** In the order of their ids, so that two deliveries that need the same two do not wait for each other. */
async function lockCandidates(
  tx: Tx,
  keyring: Keyring,
  { workspaceId, connectionId }: CustomerScope,
  { userId, phone }: Customer,
): Promise<Conversation[]> {
  const users = userId === null ? [] : userIndexes(keyring, userId)
  const phones = phone === null ? [] : phoneIndexes(keyring, phone)
  await lockIndexes(tx, keyring, [users, phones])
  // Not `any` of a list: the planner would not see that the partial indexes hold all of these.
  const named = [
    ...users.map((index) => tx`c.user_index = ${index}`),
    ...phones.map((index) => tx`c.phone_index = ${index}`),
  ]
  const rows = await tx<ConversationRow[]>`
    select ${conversationColumns(tx)}
    from conversations c
    where c.workspace_id = ${workspaceId}
      and c.connection_id = ${connectionId}
      and (${named.reduce((either, one) => tx`${either} or ${one}`, tx`false`)})
    order by c.id
    for update of c`
  return rows.map((row) => decryptConversation(keyring, row))
}

/**
 * While two versions of a digest are in use, the unique indexes do not see that a row of the one and a row of the other
 * are one customer's: whoever may begin a conversation waits here for others who may, until they have committed. The
 * lowest version is known to all of them (decision 013).
 */
async function lockIndexes(tx: Tx, keyring: Keyring, digests: Buffer[][]): Promise<void> {
  if (keyring.indexVersions.length === 1) return
  const hashes = digests.flatMap(([lowest]) => lowest?.readBigInt64BE(0) ?? []).sort((a, b) => (a < b ? -1 : 1))
  for (const hash of hashes) await tx`select pg_advisory_xact_lock(${String(hash)}::bigint)`
}

async function releasePhone(
  tx: Tx,
  keyring: Keyring,
  { workspaceId }: CustomerScope,
  { formerHolder }: CustomerMatch,
  now: Date,
): Promise<void> {
  if (formerHolder === null) return
  const { contact } = formerHolder
  const withoutPhone = { ...contact, phone: null, address: { ...contact.address, phone: null } }
  await storeConversation({ tx, keyring, workspaceId }, withUpdatedAt({ ...formerHolder, contact: withoutPhone }, now))
}

/**
 * Makes two conversations of one customer, both locked, into the older one: a customer was known by the platform's
 * user id in one and by the phone in the other until a message showed that they are one person. The older keeps its
 * id, and its owner unless people have the other; the id of the other goes on naming it. Returns the conversation as it is to be
 * stored, its events recorded.
 */
async function mergeConversations(
  { tx, keyring, workspaceId, now }: ChangeTx,
  a: Conversation,
  b: Conversation,
): Promise<Conversation> {
  const [older, younger] = isOlder(a, b) ? [a, b] : [b, a]
  await moveMessages(tx, workspaceId, younger.id, older.id)
  await moveDispatches(tx, workspaceId, younger.id, older.id)
  await moveRelatedRows(tx, workspaceId, younger.id, older.id)
  publishConversations(tx, workspaceId, [younger.id])
  const { conversation, events } = mergeStates(older, younger, now)
  // The change of owner alone is news: all else one of the two had.
  const united = { ...conversation, owner: older.owner }
  await recordDifference(tx, workspaceId, united, conversation, { actor: systemActor, reason: 'merged' }, now)
  await recordEvents(tx, keyring, workspaceId, events, now)
  return conversation
}

function isOlder(a: Conversation, b: Conversation): boolean {
  return a.createdAt.getTime() === b.createdAt.getTime() ? a.id < b.id : a.createdAt < b.createdAt
}

/**
 * The rules of a merge: nothing unread, unanswered, labelled or open is lost, and what people have taken stays theirs, with the
 * hand-over and the assignee that it came with. An agent that had the older one has it no longer: what it sends is of a former epoch.
 */
function mergeStates(older: Conversation, younger: Conversation, now: Date): ConversationChange {
  const kept = older.held || !younger.held ? older : younger
  const latest = older.lastMessageAt < younger.lastMessageAt ? younger : older
  const isOpen = older.status === 'open' || younger.status === 'open'
  const united = {
    ...older,
    contact: mergeContacts(older, younger),
    status: isOpen ? 'open' : older.status,
    snoozedUntil: isOpen ? null : older.snoozedUntil,
    assignedTo: kept.assignedTo ?? older.assignedTo ?? younger.assignedTo,
    labelIds: [...new Set([...older.labelIds, ...younger.labelIds])],
    unreadCount: older.unreadCount + younger.unreadCount,
    windowExpiresAt: later(older.windowExpiresAt, younger.windowExpiresAt),
    lastMessageAt: latest.lastMessageAt,
    lastMessage: latest.lastMessage,
    unansweredSince: latest.unansweredSince === null ? null : earlier(older.unansweredSince, younger.unansweredSince),
    inbound: mergeMarks(older, younger),
  }
  if (!kept.held) return { conversation: withUpdatedAt(united, now), events: [] }
  const { conversation, events } = changeOwner(united, human, systemActor, now)
  const handover = kept.handover ?? older.handover ?? younger.handover
  return { conversation: withUpdatedAt({ ...conversation, held: true, handover }, now), events }
}

/** What either knows; the newer of two names. */
function mergeContacts(older: Conversation, younger: Conversation): Contact {
  const [a, b] = [older.contact, younger.contact]
  const named = [older, younger]
    .filter(({ contact }) => contact.name !== null)
    .sort((x, y) => namedAt(y) - namedAt(x))[0]
  const at = named && namedAt(named)
  const marketing = [a.marketing, b.marketing]
    .filter((one) => one !== undefined)
    .sort((x, y) => (x.at < y.at ? 1 : -1))[0]
  return {
    name: named?.contact.name ?? null,
    ...(marketing !== undefined && { marketing }),
    ...(at !== undefined && { nameAt: new Date(at).toISOString() }),
    phone: a.phone ?? b.phone,
    userId: a.userId ?? b.userId,
    parentUserId: a.parentUserId ?? b.parentUserId,
    address: { phone: a.address.phone ?? b.address.phone, userId: a.address.userId ?? b.address.userId },
  }
}

/** The agent goes on from where it was in its own; what waits in either is not answered. */
function mergeMarks(older: Conversation, younger: Conversation): InboundMarks {
  const [a, b] = [older.inbound, younger.inbound]
  const waiting = [older, younger].filter(({ unansweredSince }) => unansweredSince !== null)
  const newest = laterId(a.newest, b.newest)
  const answered = waiting.map(({ inbound }) => inbound.answered)
  const first = answered.includes(null) ? null : (answered.sort()[0] ?? newest)
  return { newest, seen: a.seen, answered: first }
}

const namedAt = ({ contact, windowExpiresAt }: Conversation): number =>
  new Date(contact.nameAt ?? newestInbound(windowExpiresAt) ?? 0).getTime()

const later = (a: Date | null, b: Date | null): Date | null => (a === null || (b !== null && b > a) ? b : a)
const earlier = (a: Date | null, b: Date | null): Date | null => (a === null || (b !== null && b < a) ? b : a)

async function moveMessages(tx: Tx, workspaceId: string, fromId: string, toId: string): Promise<void> {
  const rows = await tx<{ id: string; conversation_id: string; occurred_at: Date }[]>`
    select id, conversation_id, occurred_at
    from messages
    where workspace_id = ${workspaceId}
      and conversation_id in (${fromId}, ${toId})
    order by occurred_at`
  const taken = new Set(rows.flatMap((row) => (row.conversation_id === toId ? [row.occurred_at.getTime()] : [])))
  const moved = rows.filter((row) => row.conversation_id === fromId)
  const times = moved.map((row) => {
    const free = uniqueTime(row.occurred_at, (timeMs) => taken.has(timeMs))
    taken.add(free.getTime())
    return free
  })
  await tx`
    update messages m
    set conversation_id = ${toId},
      occurred_at = t.occurred_at
    from unnest(${moved.map((row) => row.id)}::uuid[], ${timestampArray(times)}::timestamptz[])
      as t (id, occurred_at)
    where m.workspace_id = ${workspaceId}
      and m.id = t.id`
}

/** What hangs on a conversation, and goes with it as it is. */
const following = [
  'sends',
  'media',
  'conversation_notes',
  'conversation_handovers',
  'conversation_activities',
  'conversation_aliases',
]

async function moveRelatedRows(tx: Tx, workspaceId: string, fromId: string, toId: string): Promise<void> {
  for (const table of following) {
    await tx`
      update ${tx(table)}
      set conversation_id = ${toId}
      where workspace_id = ${workspaceId}
        and conversation_id = ${fromId}`
  }
  await moveNotifications(tx, workspaceId, fromId, toId)
  await lockProgress(tx, workspaceId)
  await deleteConversationTokens(tx, workspaceId, [fromId])
  await deleteConversation(tx, workspaceId, fromId)
  await tx`
    insert into conversation_aliases (workspace_id, id, conversation_id)
    values (${workspaceId}, ${fromId}, ${toId})`
}
