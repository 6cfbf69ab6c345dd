import type { Clock } from '../../base/clock.ts'
import { type Db, publish, type Sql, type Tx } from '../../base/db.ts'
import type { KeyStore } from '../../base/encryption/key-store.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import type { Channel, Connection } from '../../channels/connection/connection.ts'
import type { Connector } from '../../channels/connector.ts'
import type { ConversationStatus, InboundMarks } from './conversation-state.ts'
import type { OpenHandover, Owner } from './owner.ts'

/** The customer, as far as the platform tells. */
export interface Contact {
  name: string | null
  /** What the customer said last of marketing messages; absent: nothing. */
  marketing?: { isStopped: boolean; at: string }
  /** When the customer last wrote under the name, by the platform's clock; absent where that is with their newest message. */
  nameAt?: string
  /** Digits with country code; null while the customer hides it. */
  phone: string | null
  userId: string | null
  parentUserId: string | null
  /** What the platform used last: where an answer goes. */
  address: { phone: string | null; userId: string | null }
}

/** What a list shows of the newest message. */
export interface LastMessage {
  direction: 'inbound' | 'outbound'
  kind: string
  /** The first 200 characters. */
  text: string
}

export interface Conversation {
  id: string
  connectionId: string
  channel: Channel
  contact: Contact
  owner: Owner
  /** Raised by every change of owner. */
  ownerEpoch: number
  ownerSince: Date
  /** People have it: an agent may not take it by itself. Never while an agent owns it. */
  held: boolean
  /** What it was handed to people with, until somebody of them has written. */
  handover: OpenHandover | null
  status: ConversationStatus
  snoozedUntil: Date | null
  assignedTo: string | null
  labelIds: string[]
  unreadCount: number
  /** The end of the last window, passed or not. */
  windowExpiresAt: Date | null
  lastMessageAt: Date
  unansweredSince: Date | null
  inbound: InboundMarks
  lastMessage: LastMessage | null
  createdAt: Date
  updatedAt: Date
}

/** Which conversations a caller sees; an empty list of connections means every one of the workspace. */
export interface Scope {
  workspaceId: string
  connectionIds: readonly string[]
}

/** What the inbox shows of the lead that a customer is; whoever keeps leads finds it. */
export interface LeadSummary {
  id: string
  uniqueCode: string
  name: string
  status: string
  assignedTo: string | null
  /** All that it has and had, for the mask. */
  numbers: string[]
}

/** What reads of a workspace, and opens what is sealed. */
export interface WorkspaceSql {
  sql: Sql
  keyring: Keyring
  workspaceId: string
}

/** A transaction of a workspace. */
export interface WorkspaceTx {
  tx: Tx
  keyring: Keyring
  workspaceId: string
}

/** A transaction that changes something, and what time it is. */
export interface ChangeTx extends WorkspaceTx {
  now: Date
}

/** What the verbs of this room act on. */
export interface InboxDeps {
  db: Db
  keyStore: KeyStore
  clock: Clock
  connectors: Record<Channel, Connector>
  /** The connection with its secrets open; null when it was removed. */
  openConnection(workspaceId: string, connectionId: string): Promise<Connection | null>
  /** The lead with the customer's phone, the oldest of several; null when there is none. */
  findLead(workspaceId: string, phone: string): Promise<LeadSummary | null>
  /** The same of many phones, by each phone as it was given; those that are nobody's are left out. */
  findLeads(workspaceId: string, phones: readonly string[]): Promise<ReadonlyMap<string, LeadSummary>>
  /** The phones of the newest 50 leads that a text finds, such as a part of a name. */
  findLeadPhones(workspaceId: string, search: string): Promise<string[]>
}

/** Conversations that look different from now on: the id is the workspace, a blank, and the conversation or nothing. */
export const conversationsTopic = 'conversations'

/** Mentions of a member that are new or read: the id is the workspace, a blank, and the user. */
export const mentionsTopic = 'mentions'

/** Files that have come, or will not: the id is `MediaUpdate` as JSON. */
export const mediaTopic = 'media'

export interface MediaUpdate {
  workspaceId: string
  conversationId: string
  messageId: string | null
  mediaId: string
  state: string
}

/** From so many on, whoever shows a list loads it anew. */
const maxPublished = 100

/** Lets the pages that show these conversations know, once the transaction has committed. */
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

/** Lets the pages that show the conversation know that a file looks different from now on. */
export function publishMedia(tx: Tx, update: MediaUpdate): void {
  publish(tx, mediaTopic, JSON.stringify(update))
}

/** Does all of the work in one transaction of a workspace. */
export const inWorkspace = <T>(
  { db, keyStore, clock }: Pick<InboxDeps, 'db' | 'keyStore' | 'clock'>,
  workspaceId: string,
  work: (at: ChangeTx) => Promise<T>,
): Promise<T> =>
  keyStore.withKeyring(workspaceId, (keyring) => db.tx((tx) => work({ tx, keyring, workspaceId, now: clock.now() })))
