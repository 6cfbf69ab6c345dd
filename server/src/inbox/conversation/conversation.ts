import type { Clock } from '../../base/clock.ts'
import { type Db, publish, type Sql, type Tx } from '../../base/db.ts'
import type { KeyStore } from '../../base/encryption/key-store.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { type ApiError, conflict, forbidden, invalid, notFound, unprocessable } from '../../base/errors.ts'
import type { Channel, Connection } from '../../channels/connection/connection.ts'
import type { Connector } from '../../channels/connector.ts'
import type { ConsentSource } from '../../consents/consent.ts'
import { type Priority, type ServiceSettings, serviceReader } from '../../workspaces/service/service-settings.ts'
import type { ConversationStatus, GoalState, InboundMarks } from './conversation-state.ts'
import { type OpenHandover, type Owner, writeOwner } from './owner.ts'
import type { ThreadControl } from './thread-control.ts'

/** Customer data from the platform. */
export interface Contact {
  name: string | null
  /**
   * A copy of the customer's current decision about marketing, for display; absent if none. Without `source` it is
   * from before decisions had a history, and the only record of it.
   */
  marketing?: { isStopped: boolean; at: string; source?: ConsentSource }
  /** The same about templates for orders and the like. */
  utility?: { isStopped: boolean; at: string; source?: ConsentSource }
  /** When the customer last wrote under this name, in platform time; absent if that is their newest message. */
  nameAt?: string
  /** Digits with country code; null while the customer hides it. */
  phone: string | null
  userId: string | null
  parentUserId: string | null
  /** Identifiers that the platform used last; replies go there. */
  address: { phone: string | null; userId: string | null }
}

/** Preview of the newest message for lists. */
export interface LastMessage {
  direction: 'inbound' | 'outbound'
  kind: string
  /** First 200 characters. */
  text: string
}

export interface Conversation {
  id: string
  connectionId: string
  channel: Channel
  contact: Contact
  owner: Owner
  /** Incremented by every change of owner, and when another app on the number gets the conversation. */
  ownerEpoch: number
  ownerSince: Date
  /** Locked to people: an agent cannot take it by itself. Always false while an agent owns it. */
  held: boolean
  /** The handover to people, until one of them has written. */
  handover: OpenHandover | null
  /** Which app on the number answers, as the platform last reported it; null if it never did. */
  thread: ThreadControl | null
  status: ConversationStatus
  snoozedUntil: Date | null
  assignedTo: string | null
  /** Team of the workspace that answers it; null for all people. */
  teamId: string | null
  labelIds: string[]
  priority: Priority | null
  /** Service-level goals; null without any. */
  goal: GoalState | null
  unreadCount: number
  /** End of the last window, in the past or the future. */
  windowExpiresAt: Date | null
  lastMessageAt: Date
  unansweredSince: Date | null
  inbound: InboundMarks
  lastMessage: LastMessage | null
  createdAt: Date
  updatedAt: Date
}

/** Conversations that a caller can see; an empty list of connections means all of the workspace. */
export interface Scope {
  workspaceId: string
  connectionIds: readonly string[]
}

export interface LeadSummary {
  id: string
  uniqueCode: string
  name: string
  status: string
  assignedTo: string | null
  /** All current and former phones, for masking. */
  numbers: string[]
}

/** Database and keyring for reading and decrypting a workspace's rows. */
export interface WorkspaceSql {
  sql: Sql
  keyring: Keyring
  workspaceId: string
}

/** The same, limited to what a caller can see. */
export interface ScopedSql extends WorkspaceSql, Scope {}

export interface WorkspaceTx {
  tx: Tx
  keyring: Keyring
  workspaceId: string
}

/** Transaction that changes data, with its time. */
export interface ChangeTx extends WorkspaceTx {
  now: Date
  /** For the goals of what changes; absent if the change cannot concern them. */
  service?: ServiceSettings
}

/** The same, without keys. */
export type PlainTx = Omit<ChangeTx, 'keyring'>

export interface InboxDeps {
  db: Db
  keyStore: KeyStore
  clock: Clock
  connectors: Record<Channel, Connector>
  /** Returns the connection with decrypted credentials; null if it was removed. */
  openConnection(workspaceId: string, connectionId: string): Promise<Connection | null>
  /** Returns the oldest lead with this phone; null if there is none. */
  findLead(workspaceId: string, phone: string): Promise<LeadSummary | null>
  /** Returns leads by phone, in the given spelling; phones without a lead are left out. */
  findLeads(workspaceId: string, phones: readonly string[]): Promise<ReadonlyMap<string, LeadSummary>>
  /** Returns the phones of the newest 50 leads that match a text, such as a part of a name. */
  findLeadPhones(workspaceId: string, search: string): Promise<string[]>
}

/** What reading conversations requires. */
export type ReadDeps = Pick<InboxDeps, 'db' | 'keyStore'>
/** What changing them requires. */
export type ChangeDeps = Pick<InboxDeps, 'db' | 'keyStore' | 'clock'>

/** What events say of a conversation. */
export type ConversationRef = Pick<Conversation, 'id' | 'connectionId'>

/** Changed conversations: the id is `<workspace> <conversation>`; an empty conversation means many. */
export const conversationsTopic = 'conversations'

/** New or read mentions of a member: the id is `<workspace> <user>`. */
export const mentionsTopic = 'mentions'

/** Fetched or failed files: the id is a `MediaUpdate` as JSON. */
export const mediaTopic = 'media'

export interface MediaUpdate {
  workspaceId: string
  conversationId: string
  messageId: string | null
  mediaId: string
  state: string
}

/** Above this number, one message tells lists to reload. */
const maxPublished = 100

/** Publishes changed conversations when the transaction commits, so that open pages update. */
export function publishConversations(tx: Tx, workspaceId: string, conversationIds: readonly string[]): void {
  if (conversationIds.length > maxPublished) publishManyChanged(tx, workspaceId)
  else for (const id of conversationIds) publish(tx, conversationsTopic, `${workspaceId} ${id}`)
}

export function publishManyChanged(tx: Tx, workspaceId: string): void {
  publish(tx, conversationsTopic, `${workspaceId} `)
}

export function publishMentions(tx: Tx, workspaceId: string, userId: string): void {
  publish(tx, mentionsTopic, `${workspaceId} ${userId}`)
}

/** Publishes a change of a file, so that open pages update. */
export function publishMedia(tx: Tx, update: MediaUpdate): void {
  publish(tx, mediaTopic, JSON.stringify(update))
}

/** Returns the time that a query finds; null if there is none. */
export const firstTime = async (rows: PromiseLike<readonly { at: Date | null }[]>): Promise<Date | null> =>
  (await rows)[0]?.at ?? null

/** Runs `work` in one transaction of the workspace, without its settings. */
export const inTransaction = <T>(
  { db, keyStore, clock }: ChangeDeps,
  workspaceId: string,
  work: (at: ChangeTx) => Promise<T>,
): Promise<T> =>
  keyStore.withKeyring(workspaceId, (keyring) => db.tx((tx) => work({ tx, keyring, workspaceId, now: clock.now() })))

/** Runs `work` in one transaction of the workspace. */
export async function inWorkspace<T>(
  { db, keyStore, clock }: ChangeDeps,
  workspaceId: string,
  work: (at: ChangeTx) => Promise<T>,
): Promise<T> {
  // Before the transaction: one that holds a connection must not wait for another.
  const service = await serviceReader(db)(workspaceId)
  return keyStore.withKeyring(workspaceId, (keyring) =>
    db.tx((tx) => work({ tx, keyring, workspaceId, now: clock.now(), service })),
  )
}

export const conversationNotFound = (): ApiError => notFound('Conversation not found', { code: 'NOT_FOUND' })

export const connectionNotFound = (): ApiError => notFound('Chat connection not found', { code: 'NOT_FOUND' })

export const ownerForbidden = (): ApiError =>
  forbidden('A key can assign a conversation to people or to itself, not to another agent', {
    code: 'OWNER_FORBIDDEN',
  })

export const agentsStopped = (): ApiError =>
  forbidden('Agents are stopped in this workspace. Only people can own conversations until a member resumes agents.', {
    code: 'OWNER_FORBIDDEN',
  })

export const keyCannotOwn = (): ApiError =>
  conflict('This key is not active, lacks inbox.write or does not allow the connection', { code: 'OWNER_MISMATCH' })

/** Names the owner and since when, but never how to take it. The contract's Inbox API has its own code. */
export const lockedToPeople = (
  conversation: Pick<Conversation, 'owner' | 'ownerSince'>,
  code: 'HELD_BY_PEOPLE' | 'OWNER_MISMATCH',
): ApiError =>
  conflict(
    `People have had this conversation since ${conversation.ownerSince.toISOString()}. You will be notified when they hand it over.`,
    { code, ...ownedSince(conversation) },
  )

export const ownedByAgent = (conversation: Pick<Conversation, 'owner' | 'ownerSince'>): ApiError =>
  conflict(
    `An agent has had this conversation since ${conversation.ownerSince.toISOString()}: its owner is ${writeOwner(conversation.owner)}. Leave it to that agent, or to people.`,
    { code: 'OWNER_MISMATCH', ...ownedSince(conversation) },
  )

/** Only the owner can hand a conversation over. */
export const notOwner = (conversation: Pick<Conversation, 'owner' | 'ownerSince'>): ApiError =>
  conflict(
    `Only the owner can hand over a conversation. This one has been with ${conversation.owner.type === 'human' ? 'people' : writeOwner(conversation.owner)} since ${conversation.ownerSince.toISOString()}. Leave it to them.`,
    { code: 'OWNER_MISMATCH', ...ownedSince(conversation) },
  )

const ownedSince = ({ owner, ownerSince }: Pick<Conversation, 'owner' | 'ownerSince'>) => ({
  owner: writeOwner(owner),
  since: ownerSince.toISOString(),
})

/** `field` is the name in the caller's API. */
export const unknownLabels = (field: string): ApiError => invalid(field, 'must be ids of labels of the workspace')

export const noteKeyReused = (): ApiError =>
  unprocessable('This Idempotency-Key was already used for another note. Use a new key for a new note.', {
    code: 'IDEMPOTENCY_KEY_USED',
  })
