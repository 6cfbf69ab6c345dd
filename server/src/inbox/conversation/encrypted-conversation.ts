import type { Keyring } from '../../base/encryption/keyring.ts'
import { phoneClass, phoneKeys } from '../../base/phone/phone-variants.ts'
import type { ThreadOwner } from '../../channels/channel-event.ts'
import type { Channel } from '../../channels/connection/connection.ts'
import { type Priority, priorities } from '../../workspaces/service/service-settings.ts'
import type { Contact, Conversation, LastMessage } from './conversation.ts'
import { type ConversationStatus, type GoalState, goalTimes, type InboundMarks } from './conversation-state.ts'
import type { OpenHandover } from './owner.ts'
import { keyIdOf, type Owner, ownerOfKey } from './owner.ts'
import type { ThreadControl } from './thread-control.ts'

/** Row of the table `conversations` without the columns used only for lookup. */
export interface ConversationRow {
  id: string
  connection_id: string
  channel: Channel
  contact: Buffer
  owner_key_id: string | null
  owner_epoch: number
  owner_since: Date
  held: boolean
  handover: Buffer | null
  thread_owner: ThreadOwner | null
  thread_at: Date | null
  status: ConversationStatus
  snoozed_until: Date | null
  assigned_to: string | null
  team_id: string | null
  label_ids: string[]
  priority: number | null
  goal: GoalState | null
  unread_count: number
  window_expires_at: Date | null
  last_message_at: Date
  unanswered_since: Date | null
  newest_inbound_id: string | null
  seen_inbound_id: string | null
  answered_inbound_id: string | null
  last_message: Buffer | null
  created_at: Date
  updated_at: Date
}

export interface StoredConversation extends Omit<ConversationRow, 'goal'> {
  /** JSON. */
  goal: string | null
  goal_due_at: Date | null
  goal_missed_at: Date | null
  user_index: Buffer | null
  phone_index: Buffer | null
  phone_exact_index: Buffer | null
  index_version: number
}

const encryptionContext = (id: string, column: string) => ({ table: 'conversations', row: id, column })

export function encryptConversation(keyring: Keyring, conversation: Conversation): StoredConversation {
  const { id, contact } = conversation
  return {
    id,
    connection_id: conversation.connectionId,
    channel: conversation.channel,
    ...encryptContact(keyring, { id, contact }),
    owner_key_id: keyIdOf(conversation.owner),
    owner_epoch: conversation.ownerEpoch,
    owner_since: conversation.ownerSince,
    held: conversation.held,
    handover: encryptHandover(keyring, conversation),
    thread_owner: conversation.thread?.owner ?? null,
    thread_at: conversation.thread?.at ?? null,
    status: conversation.status,
    snoozed_until: conversation.snoozedUntil,
    assigned_to: conversation.assignedTo,
    team_id: conversation.teamId,
    label_ids: conversation.labelIds,
    priority: rankOf(conversation.priority),
    ...encodeGoal(conversation.goal),
    unread_count: conversation.unreadCount,
    window_expires_at: conversation.windowExpiresAt,
    last_message_at: conversation.lastMessageAt,
    unanswered_since: conversation.unansweredSince,
    newest_inbound_id: conversation.inbound.newest,
    seen_inbound_id: conversation.inbound.seen,
    answered_inbound_id: conversation.inbound.answered,
    last_message: encryptLastMessage(keyring, conversation),
    created_at: conversation.createdAt,
    updated_at: conversation.updatedAt,
  }
}

/** Returns the columns of the goals. */
export function encodeGoal(goal: GoalState | null) {
  const { goalDueAt, goalMissedAt } = goalTimes(goal)
  return { goal: goal === null ? null : JSON.stringify(goal), goal_due_at: goalDueAt, goal_missed_at: goalMissedAt }
}

/** Returns the number that the database stores for a priority, by which it sorts. */
export const rankOf = (priority: Priority | null): number | null =>
  priority === null ? null : priorities.indexOf(priority) + 1

export const priorityOf = (rank: number | null): Priority | null =>
  rank === null ? null : (priorities[rank - 1] ?? null)

export const encryptLastMessage = (keyring: Keyring, { id, lastMessage }: Pick<Conversation, 'id' | 'lastMessage'>) =>
  lastMessage === null ? null : keyring.encrypt(encryptionContext(id, 'last_message'), JSON.stringify(lastMessage))

export const encryptHandover = (keyring: Keyring, { id, handover }: Pick<Conversation, 'id' | 'handover'>) =>
  handover === null ? null : keyring.encrypt(encryptionContext(id, 'handover'), JSON.stringify(handover))

/** Returns the encrypted contact and its blind indexes. */
export function encryptContact(keyring: Keyring, { id, contact }: Pick<Conversation, 'id' | 'contact'>) {
  return {
    contact: keyring.encrypt(encryptionContext(id, 'contact'), JSON.stringify(contact)),
    ...contactIndexes(keyring, contact),
  }
}

export function contactIndexes(keyring: Keyring, { userId, phone }: Pick<Contact, 'userId' | 'phone'>) {
  return {
    user_index: userId === null ? null : keyring.exact(userLabel, userId),
    phone_index: phone === null ? null : keyring.exact(phoneLabel, phoneClass(phone)),
    phone_exact_index: phone === null ? null : keyring.exact(exactPhoneLabel, phone),
    index_version: keyring.indexVersion,
  }
}

export function decryptConversation(keyring: Keyring, row: ConversationRow): Conversation {
  const { id } = row
  return {
    id,
    connectionId: row.connection_id,
    channel: row.channel,
    contact: decryptContact(keyring, id, row.contact),
    owner: ownerOf(row),
    ownerEpoch: row.owner_epoch,
    ownerSince: row.owner_since,
    held: row.held && row.owner_key_id === null,
    handover: decryptIfPresent<OpenHandover>(keyring, id, 'handover', row.handover),
    thread: threadOf(row),
    status: row.status,
    snoozedUntil: row.snoozed_until,
    assignedTo: row.assigned_to,
    teamId: row.team_id,
    labelIds: row.label_ids,
    priority: priorityOf(row.priority),
    goal: row.goal,
    unreadCount: row.unread_count,
    windowExpiresAt: row.window_expires_at,
    lastMessageAt: row.last_message_at,
    unansweredSince: row.unanswered_since,
    inbound: inboundMarksOf(row),
    lastMessage: decryptIfPresent<LastMessage>(keyring, id, 'last_message', row.last_message),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

const decryptIfPresent = <T>(keyring: Keyring, id: string, column: string, encrypted: Buffer | null): T | null =>
  encrypted === null ? null : (JSON.parse(keyring.decryptText(encryptionContext(id, column), encrypted)) as T)

export const threadOf = ({
  thread_owner: owner,
  thread_at: at,
}: Pick<ConversationRow, 'thread_owner' | 'thread_at'>): ThreadControl | null => (at === null ? null : { owner, at })

export const inboundMarksOf = (
  row: Pick<ConversationRow, 'newest_inbound_id' | 'seen_inbound_id' | 'answered_inbound_id'>,
): InboundMarks => ({
  newest: row.newest_inbound_id,
  seen: row.seen_inbound_id,
  answered: row.answered_inbound_id,
})

export const ownerOf = ({ owner_key_id: keyId }: Pick<ConversationRow, 'owner_key_id'>): Owner => ownerOfKey(keyId)

export function decryptContact(keyring: Keyring, id: string, encrypted: Uint8Array): Contact {
  return JSON.parse(keyring.decryptText(encryptionContext(id, 'contact'), encrypted)) as Contact
}

const userLabel = 'inbox.user'
const phoneLabel = 'inbox.phone'
const exactPhoneLabel = 'inbox.phone.exact'

// Lookups use one digest, or one per version while the index key is rotated.

/** Returns digests of the platform's user id. */
export const userIndexes = (keyring: Keyring, userId: string): Buffer[] => keyring.exacts(userLabel, userId)

/** Returns digests that find a phone in any of its common variants. */
export const phoneIndexes = (keyring: Keyring, digits: string): Buffer[] =>
  phoneKeys(digits).flatMap((key) => keyring.exacts(phoneLabel, key))

/** Returns digests that find a phone only in this spelling. */
export const exactPhoneIndexes = (keyring: Keyring, digits: string): Buffer[] => keyring.exacts(exactPhoneLabel, digits)

/**
 * Returns the digest of the platform's message id, which is unique within a connection. Its key is never rotated: the
 * ids are random, so nobody can guess one to look it up, and there are too many digests to recompute.
 */
export function externalIndex(keyring: Keyring, connectionId: string, externalId: string): Buffer {
  return keyring.stable('inbox.external', `${connectionId} ${externalId}`)
}

export type ExternalIndexOf = (connectionId: string, externalId: string) => Buffer

export const createExternalIndexOf =
  (keyring: Keyring): ExternalIndexOf =>
  (connectionId, externalId) =>
    externalIndex(keyring, connectionId, externalId)

/** Returns a function that computes each digest once. */
export function createCachedExternalIndexOf(keyring: Keyring): ExternalIndexOf {
  const cache = new Map<string, Buffer>()
  return (connectionId, externalId) => {
    const id = `${connectionId} ${externalId}`
    const index = cache.get(id) ?? externalIndex(keyring, connectionId, externalId)
    cache.set(id, index)
    return index
  }
}
