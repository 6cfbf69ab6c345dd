import type { Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { timestampArray } from '../../base/postgres/values.ts'
import type { Customer } from '../../channels/channel-event.ts'
import { relabelConsents } from '../../consents/store.ts'
import { recordEvents } from '../../events/record.ts'
import { moveNotifications } from '../../notifications/notifications.ts'
import { systemActor } from '../../workspaces/actor.ts'
import type { Priority } from '../../workspaces/service/service-settings.ts'
import { endOpenDrafts } from '../drafts/draft.ts'
import { moveMissedGoals } from '../goals/missed-goals.ts'
import { deleteConversationTokens, lockProgress } from '../search/progress.ts'
import { deleteConversation } from './activity-columns.ts'
import { type ConversationChange, changeOwner, withUpdatedAt } from './change.ts'
import { recordDifference } from './commit-change.ts'
import { type ChangeTx, type Contact, type Conversation, publishConversations } from './conversation.ts'
import { type InboundMarks, laterId, newestInbound } from './conversation-state.ts'
import { type CustomerMatch, matchCustomer, mergeConsents, renameContact } from './customer.ts'
import { moveDispatches } from './dispatches.ts'
import {
  type ConversationRow,
  decryptConversation,
  phoneIndexes,
  rankOf,
  userIndexes,
} from './encrypted-conversation.ts'
import { uniqueTime } from './message.ts'
import { human } from './owner.ts'
import { conversationColumns, storeConversation } from './queries.ts'
import type { ThreadControl } from './thread-control.ts'

/**
 * Returns the customer's conversation on the connection, locked; undefined if there is none. Matches the user id and
 * any variant of the phone. Merges two conversations that turn out to belong to one customer.
 */
export async function lockCustomer(
  work: ChangeTx,
  connectionId: string,
  customer: Customer,
): Promise<Conversation | undefined> {
  return (await lockMerged(work, connectionId, customer))?.conversation
}

/**
 * Returns the conversation of a customer who changed number or user id, locked and with the new identifiers. If they
 * have already written under the new ones, merges the two conversations.
 */
export async function lockRenamed(
  work: ChangeTx,
  connectionId: string,
  { previous, customer }: { previous: Customer; customer: Customer },
): Promise<Conversation | undefined> {
  const before = await lockCustomer(work, connectionId, previous)
  if (before === undefined) return undefined
  const after = await lockMerged(work, connectionId, customer)
  // The new identifiers may match the same conversation, or may just have merged it with another.
  const isSame = after?.ids.includes(before.id) ?? true
  const known = after?.conversation ?? before
  const conversation = isSame ? known : await mergeConversations(work, before, known)
  const contact = renameContact(conversation.contact, customer)
  await relabelConsents(work.tx, work.keyring, work.workspaceId, conversation.contact, contact)
  return { ...conversation, contact }
}

/** Returns the conversation, and the ids of those that it was before the merge. */
async function lockMerged(work: ChangeTx, connectionId: string, customer: Customer) {
  const match = matchCustomer(await lockCandidates(work, connectionId, customer), customer)
  await releasePhone(work, match)
  const { own, duplicate } = match
  if (own === null) return undefined
  if (duplicate === null) return { conversation: own, ids: [own.id] }
  const merged = await mergeConversations(work, own, duplicate)
  await storeConversation(work, merged)
  return { conversation: merged, ids: [own.id, duplicate.id] }
}

/** Locks in id order, to prevent deadlocks between deliveries that need the same two conversations. */
async function lockCandidates(work: ChangeTx, connectionId: string, { userId, phone }: Customer) {
  const { tx, keyring, workspaceId } = work
  const users = userId === null ? [] : userIndexes(keyring, userId)
  const phones = phone === null ? [] : phoneIndexes(keyring, phone)
  await lockIndexes(tx, keyring, [users, phones])
  // Not `any` of a list: the planner would not use the partial indexes.
  const conditions = [
    ...users.map((index) => tx`c.user_index = ${index}`),
    ...phones.map((index) => tx`c.phone_index = ${index}`),
  ]
  const rows = await tx<ConversationRow[]>`
    select ${conversationColumns(tx)}
    from conversations c
    where c.workspace_id = ${workspaceId}
      and c.connection_id = ${connectionId}
      and (${conditions.reduce((either, one) => tx`${either} or ${one}`, tx`false`)})
    order by c.id
    for update of c`
  return rows.map((row) => decryptConversation(keyring, row))
}

/**
 * While two digest versions are in use, the unique indexes cannot detect that rows with different versions belong to
 * one customer. A transaction that may insert a conversation therefore waits until all others that may have committed.
 * All of them know the lowest version (decision 013).
 */
async function lockIndexes(tx: Tx, keyring: Keyring, digests: Buffer[][]): Promise<void> {
  if (keyring.indexVersions.length === 1) return
  const hashes = digests.flatMap(([lowest]) => lowest?.readBigInt64BE(0) ?? []).sort((a, b) => (a < b ? -1 : 1))
  for (const hash of hashes) await tx`select pg_advisory_xact_lock(${String(hash)}::bigint)`
}

async function releasePhone(work: ChangeTx, { formerHolder }: CustomerMatch): Promise<void> {
  if (formerHolder === null) return
  const { contact } = formerHolder
  const withoutPhone = { ...contact, phone: null, address: { ...contact.address, phone: null } }
  await storeConversation(work, withUpdatedAt({ ...formerHolder, contact: withoutPhone }, work.now))
}

/**
 * Merges two locked conversations of one customer, one known by the platform's user id and one by phone, into the older
 * one. The older keeps its id, and its owner unless people have the other; the younger id becomes an alias. Records the
 * events and returns the conversation to store.
 */
async function mergeConversations(work: ChangeTx, a: Conversation, b: Conversation): Promise<Conversation> {
  const { tx, keyring, workspaceId, now } = work
  const [older, younger] = isOlder(a, b) ? [a, b] : [b, a]
  await moveMessages(tx, workspaceId, younger.id, older.id)
  await moveDispatches(tx, workspaceId, younger.id, older.id)
  // What the drafts answer has changed; at most one per conversation may be open.
  const ofBoth = tx`d.conversation_id = any (${[older.id, younger.id]}::uuid[])`
  await endOpenDrafts(work, 'stale', ofBoth)
  await moveRelatedRows(tx, workspaceId, younger.id, older.id)
  publishConversations(tx, workspaceId, [younger.id])
  const { conversation, events } = mergeStates(older, younger, now)
  // A decision by either identifier is now one of both.
  await relabelConsents(tx, keyring, workspaceId, conversation.contact, conversation.contact)
  // Records only the change of owner: all other values come from one of the two.
  const combined = { ...conversation, owner: older.owner }
  await recordDifference(work, combined, conversation, { actor: systemActor, reason: 'merged' })
  await recordEvents(tx, keyring, workspaceId, events, now)
  return conversation
}

function isOlder(a: Conversation, b: Conversation): boolean {
  return a.createdAt.getTime() === b.createdAt.getTime() ? a.id < b.id : a.createdAt < b.createdAt
}

/**
 * Rules of a merge: nothing unread, unanswered, labelled or open is lost, and a conversation that people have stays
 * theirs, with its handover and assignee. An agent that owned the older one loses it; its sends then have an old epoch.
 */
function mergeStates(older: Conversation, younger: Conversation, now: Date): ConversationChange {
  const kept = older.held || !younger.held ? older : younger
  const latest = older.lastMessageAt < younger.lastMessageAt ? younger : older
  const isOpen = older.status === 'open' || younger.status === 'open'
  const combined = {
    ...older,
    contact: mergeContacts(older, younger),
    status: isOpen ? 'open' : older.status,
    snoozedUntil: isOpen ? null : older.snoozedUntil,
    assignedTo: kept.assignedTo ?? older.assignedTo ?? younger.assignedTo,
    teamId: kept.teamId ?? older.teamId ?? younger.teamId,
    priority: higherPriority(older.priority, younger.priority),
    // The clocks follow with the next change.
    goal: older.goal ?? younger.goal,
    labelIds: [...new Set([...older.labelIds, ...younger.labelIds])],
    unreadCount: older.unreadCount + younger.unreadCount,
    windowExpiresAt: later(older.windowExpiresAt, younger.windowExpiresAt),
    lastMessageAt: latest.lastMessageAt,
    lastMessage: latest.lastMessage,
    unansweredSince: latest.unansweredSince === null ? null : earlier(older.unansweredSince, younger.unansweredSince),
    inbound: mergeMarks(older, younger),
    thread: latestThread(older.thread, younger.thread),
  }
  if (!kept.held) return { conversation: withUpdatedAt(combined, now), events: [] }
  const { conversation, events } = changeOwner(combined, human, systemActor, now)
  const handover = kept.handover ?? older.handover ?? younger.handover
  return { conversation: withUpdatedAt({ ...conversation, held: true, handover }, now), events }
}

/** Combines the identifiers of both; the newer name wins. */
function mergeContacts(older: Conversation, younger: Conversation): Contact {
  const [a, b] = [older.contact, younger.contact]
  const named = [older, younger]
    .filter(({ contact }) => contact.name !== null)
    .sort((x, y) => nameTimeOf(y) - nameTimeOf(x))[0]
  const at = named && nameTimeOf(named)
  return {
    name: named?.contact.name ?? null,
    ...mergeConsents(a, b),
    ...(at !== undefined && { nameAt: new Date(at).toISOString() }),
    phone: a.phone ?? b.phone,
    userId: a.userId ?? b.userId,
    parentUserId: a.parentUserId ?? b.parentUserId,
    address: { phone: a.address.phone ?? b.address.phone, userId: a.address.userId ?? b.address.userId },
  }
}

/** Keeps the agent's position from the older conversation; messages that wait in either stay unanswered. */
function mergeMarks(older: Conversation, younger: Conversation): InboundMarks {
  const [a, b] = [older.inbound, younger.inbound]
  const waiting = [older, younger].filter(({ unansweredSince }) => unansweredSince !== null)
  const newest = laterId(a.newest, b.newest)
  const answered = waiting.map(({ inbound }) => inbound.answered)
  const first = answered.includes(null) ? null : (answered.sort()[0] ?? newest)
  return { newest, seen: a.seen, answered: first }
}

const higherPriority = (a: Priority | null, b: Priority | null): Priority | null =>
  (rankOf(a) ?? 0) >= (rankOf(b) ?? 0) ? a : b

const nameTimeOf = ({ contact, windowExpiresAt }: Conversation): number =>
  new Date(contact.nameAt ?? newestInbound(windowExpiresAt) ?? 0).getTime()

const latestThread = (a: ThreadControl | null, b: ThreadControl | null): ThreadControl | null =>
  a === null || (b !== null && b.at > a.at) ? b : a

const later = (a: Date | null, b: Date | null): Date | null => (a === null || (b !== null && b > a) ? b : a)
const earlier = (a: Date | null, b: Date | null): Date | null => (a === null || (b !== null && b < a) ? b : a)

async function moveMessages(tx: Tx, workspaceId: string, fromId: string, toId: string): Promise<void> {
  const rows = await tx<{ id: string; conversation_id: string; occurred_at: Date }[]>`
    select id, conversation_id, occurred_at
    from messages
    where workspace_id = ${workspaceId}
      and conversation_id in (${fromId}, ${toId})
    order by occurred_at`
  const usedTimes = new Set(rows.flatMap((row) => (row.conversation_id === toId ? [row.occurred_at.getTime()] : [])))
  const moved = rows.filter((row) => row.conversation_id === fromId)
  const times = moved.map((row) => {
    const free = uniqueTime(row.occurred_at, (timeMs) => usedTimes.has(timeMs))
    usedTimes.add(free.getTime())
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

/** Tables whose rows move to the remaining conversation unchanged. */
const relatedTables = [
  'sends',
  'media',
  'conversation_notes',
  'conversation_handovers',
  'conversation_activities',
  'conversation_aliases',
  'message_charges',
  'drafts',
  'reviews',
  'scheduled_messages',
  'tasks',
  'automation_runs',
  'broadcast_recipients',
  'sequence_runs',
  'satisfaction_ratings',
]

async function moveRelatedRows(tx: Tx, workspaceId: string, fromId: string, toId: string): Promise<void> {
  for (const table of relatedTables) {
    await tx`
      update ${tx(table)}
      set conversation_id = ${toId}
      where workspace_id = ${workspaceId}
        and conversation_id = ${fromId}`
  }
  // The customer has just written.
  await tx`
    delete from silence_reminders
    where workspace_id = ${workspaceId}
      and conversation_id = ${fromId}`
  await moveMissedGoals(tx, workspaceId, fromId, toId)
  await moveNotifications(tx, workspaceId, fromId, toId)
  await lockProgress(tx, workspaceId)
  await deleteConversationTokens(tx, workspaceId, [fromId])
  await deleteConversation(tx, workspaceId, fromId)
  await tx`
    insert into conversation_aliases (workspace_id, id, conversation_id)
    values (${workspaceId}, ${fromId}, ${toId})`
}
