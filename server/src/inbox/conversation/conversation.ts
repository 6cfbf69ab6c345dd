import type { Clock } from '../../base/clock.ts'
import { type Db, publish, type Sql, type Tx } from '../../base/db.ts'
import type { KeyStore } from '../../base/encryption/key-store.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import type { Channel, Connection } from '../../channels/connection/connection.ts'
import type { Connector } from '../../channels/connector.ts'
import type { ConsentSource } from '../../consents/consent.ts'
import { type Priority, type ServiceSettings, serviceReader } from '../../workspaces/service/service-settings.ts'
import type { ConversationStatus, InboundMarks } from './conversation-state.ts'
import type { GoalState } from './goal.ts'
import type { OpenHandover, Owner } from './owner.ts'
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

/** Runs `work` in one transaction of the workspace. */
export async function inWorkspace<T>(
  { db, keyStore, clock }: Pick<InboxDeps, 'db' | 'keyStore' | 'clock'>,
  workspaceId: string,
  work: (at: ChangeTx) => Promise<T>,
): Promise<T> {
  // Before the transaction: one that holds a connection must not wait for another.
  const service = await serviceReader(db)(workspaceId)
  return keyStore.withKeyring(workspaceId, (keyring) =>
    db.tx((tx) => work({ tx, keyring, workspaceId, now: clock.now(), service })),
  )
}
