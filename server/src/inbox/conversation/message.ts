import type { Keyring } from '../../base/encryption/keyring.ts'
import { newId } from '../../base/id.ts'
import type { MediaInfo, MediaKind, MessageDetail, MessageKind, Referral } from '../../channels/channel-event.ts'
import type { Choices } from '../../channels/interactive-options.ts'
import type { Prompt } from '../../channels/prompts.ts'
import type { Actor } from '../../workspaces/actor.ts'
import { createExternalIndexOf } from './encrypted-conversation.ts'

export type Direction = 'inbound' | 'outbound'
/** `echo`: sent by another app or the phone. `history`: imported later. */
export type Origin = 'live' | 'echo' | 'history'

export interface Message {
  id: string
  conversationId: string
  connectionId: string
  direction: Direction
  kind: MessageKind
  origin: Origin
  text: string
  referral: Referral | null
  /** The template of a send, which its text alone does not name; absent for other messages. */
  send?: SentTemplate
  /** Content other than text; absent if there is none. */
  detail?: StoredDetail
  /** Edits and withdrawal after the message was sent; absent if there are none. */
  revision?: Revision
  /** File of a message being inserted; afterwards a row of `media` describes it. */
  file?: MediaInfo
  /** Null until the platform has assigned one. */
  externalId: string | null
  status: MessageStatus
  errorCode: string | null
  /** Null for inbound messages and echoes. */
  actor: Actor | null
  occurredAt: Date
  createdAt: Date
  /** When an unsettled pending send counts as failed. */
  settleBy: Date | null
}

/** The template that a message was sent with. */
export interface SentTemplate {
  kind: 'template'
  name: string
  language: string
}

/** Returns a message with defaults for the optional fields. */
export const newMessage = (
  fields: Omit<Message, DefaultedField> & Partial<Pick<Message, DefaultedField>>,
): Message => ({
  referral: null,
  externalId: null,
  errorCode: null,
  actor: null,
  settleBy: null,
  ...fields,
})

type DefaultedField = 'referral' | 'externalId' | 'errorCode' | 'actor' | 'settleBy'

/** Stored content other than text; for a file only the id and kind of its `media` row. */
export interface StoredDetail extends Omit<MessageDetail, 'media'> {
  media?: { id: string; kind: MediaKind }
  /** Interactive options of an outbound message. */
  choices?: Choices
  /** What an outbound message asks the customer to do. */
  prompt?: Prompt
  /** Versions of articles that an outbound message of an agent used. */
  sources?: readonly Source[]
}

/** A version of an article, with its title then; only the module of knowledge knows more about it. */
export interface Source {
  id: string
  version: number
  title: string
}

/** Changes that the author made to a sent message. Times are the platform's. */
export interface Revision {
  editedAt: string | null
  withdrawnAt: string | null
  /** Former texts with their times, oldest first; empty if the workspace does not keep them. */
  former: { text: string; at: string }[]
}

/** Splits the detail of a new message into its stored part and its file. */
export function toStoredDetail(detail: MessageDetail | undefined, now: Date): Pick<Message, 'detail' | 'file'> {
  if (detail === undefined) return {}
  const { media: file, ...rest } = detail
  if (file === undefined) return { detail: rest }
  return { detail: { ...rest, media: { id: newId(now), kind: file.kind } }, file }
}

/** Row of the table `messages`. */
export interface MessageRow {
  id: string
  conversation_id: string
  connection_id: string
  direction: Direction
  kind: MessageKind
  origin: Origin
  content: Buffer
  external_id: Buffer | null
  status: MessageStatus
  error_code: string | null
  actor_type: Actor['type'] | null
  actor_id: string | null
  occurred_at: Date
  created_at: Date
  settle_by: Date | null
}

/**
 * Encrypted content of a message. Contains the platform's id if it is known on insert, because encrypting a separate
 * value would double the time. A send learns its id later and stores it in `external_id`.
 */
export type MessageContent = Pick<Message, 'text' | 'referral' | 'send' | 'detail' | 'revision'> & {
  externalId?: string
}

export interface StoredMessage extends MessageRow {
  external_index: Buffer | null
}

const encryptionContext = (id: string, column: string) => ({ table: 'messages', row: id, column })

export function encryptMessage(
  keyring: Keyring,
  message: Message,
  indexOf = createExternalIndexOf(keyring),
): StoredMessage {
  const { id, connectionId, externalId, text, referral, send, detail, revision } = message
  const content: MessageContent = {
    ...{ text, referral, send },
    ...(externalId !== null && { externalId }),
    ...(detail !== undefined && { detail }),
    ...(revision !== undefined && { revision }),
  }
  return {
    id,
    conversation_id: message.conversationId,
    connection_id: connectionId,
    direction: message.direction,
    kind: message.kind,
    origin: message.origin,
    content: keyring.encrypt(encryptionContext(id, 'content'), JSON.stringify(content)),
    external_id: null,
    external_index: externalId === null ? null : indexOf(connectionId, externalId),
    status: message.status,
    error_code: message.errorCode,
    actor_type: message.actor?.type ?? null,
    actor_id: message.actor?.id ?? null,
    occurred_at: message.occurredAt,
    created_at: message.createdAt,
    settle_by: message.settleBy,
  }
}

export function decryptMessage(keyring: Keyring, row: MessageRow): Message {
  const content = decryptContent(keyring, row)
  return {
    id: row.id,
    conversationId: row.conversation_id,
    connectionId: row.connection_id,
    direction: row.direction,
    kind: row.kind,
    origin: row.origin,
    ...content,
    externalId: externalIdOf(keyring, row, content),
    status: row.status,
    errorCode: row.error_code,
    actor: actorOf(row),
    occurredAt: row.occurred_at,
    createdAt: row.created_at,
    settleBy: row.settle_by,
  }
}

const decryptContent = (keyring: Keyring, { id, content }: Pick<MessageRow, 'id' | 'content'>): MessageContent =>
  JSON.parse(keyring.decryptText(encryptionContext(id, 'content'), content))

export const decryptMessageText = (keyring: Keyring, row: Pick<MessageRow, 'id' | 'content'>): string =>
  decryptContent(keyring, row).text

/** Returns the name of the template that a message was sent with; null for other messages and older releases. */
export function decryptTemplateName(keyring: Keyring, row: Pick<MessageRow, 'id' | 'content'>): string | null {
  const name: unknown = decryptContent(keyring, row).send?.name
  return typeof name === 'string' ? name : null
}

export function decryptMessageId(
  keyring: Keyring,
  row: Pick<MessageRow, 'id' | 'content' | 'external_id'>,
): string | null {
  return externalIdOf(keyring, row, row.external_id === null ? decryptContent(keyring, row) : null)
}

function externalIdOf(
  keyring: Keyring,
  { id, external_id }: Pick<MessageRow, 'id' | 'external_id'>,
  content: MessageContent | null,
): string | null {
  return external_id === null ? (content?.externalId ?? null) : decryptExternalId(keyring, id, external_id)
}

export function encryptExternalId(keyring: Keyring, messageId: string, externalId: string): Buffer {
  return keyring.encrypt(encryptionContext(messageId, 'external_id'), externalId)
}

export function decryptExternalId(keyring: Keyring, messageId: string, encrypted: Buffer): string {
  return keyring.decryptText(encryptionContext(messageId, 'external_id'), encrypted)
}

export function actorOf({ actor_type, actor_id }: Pick<MessageRow, 'actor_type' | 'actor_id'>): Actor | null {
  if (actor_type === null) return null
  if (actor_type === 'system' || actor_id === null) return { type: 'system', id: actor_id }
  return { type: actor_type, id: actor_id }
}

/** Author of a message, for display. */
export interface Author {
  /** `app`: another app on the same number, or the phone itself. `system`: a platform notice. */
  type: 'customer' | 'agent' | 'user' | 'token' | 'app' | 'system'
  id: string | null
}

export function authorOf({ direction, kind, actor }: Pick<Message, 'direction' | 'kind' | 'actor'>): Author {
  if (direction === 'inbound') return { type: kind === 'system' ? 'system' : 'customer', id: null }
  if (actor === null) return { type: 'app', id: null }
  return actor.type === 'form' ? { type: 'system', id: null } : { type: actor.type, id: actor.id }
}

/**
 * Returns the first free millisecond at or after `requested`. The platform's clock has whole seconds, so messages of
 * one second share a time; paging with `before` needs unique times within a conversation.
 */
export function uniqueTime(requested: Date, isTaken: (timeMs: number) => boolean): Date {
  let timeMs = requested.getTime()
  while (isTaken(timeMs)) timeMs++
  return new Date(timeMs)
}

export const messageStatuses = ['pending', 'sent', 'delivered', 'read', 'failed'] as const
export type MessageStatus = (typeof messageStatuses)[number]

/** Delivery state of a message or part. `errorCode` is null unless it failed. */
export interface DeliveryState {
  status: MessageStatus
  errorCode: string | null
}

/** Error code of a send with an unknown result. */
export const outcomeUnknown = 'outcome_unknown'

const ranks = { pending: 0, sent: 1, delivered: 2, read: 3 } as const

/**
 * Returns the next state, or null if the report changes nothing. States only advance; `failed` follows only `pending`
 * and `sent`. A failure assumed because of an unknown result is replaced by what the platform reports.
 */
export function nextState(from: DeliveryState, to: DeliveryState): DeliveryState | null {
  if (from.status === 'failed') {
    return from.errorCode === outcomeUnknown && to.status !== 'pending' && to.errorCode !== outcomeUnknown ? to : null
  }
  if (to.status === 'failed') return ranks[from.status] <= ranks.sent ? to : null
  return ranks[to.status] > ranks[from.status] ? to : null
}

/** Returns the state of a message in parts: the lowest of all parts, or failed if any part has failed. */
export function combineParts(parts: readonly DeliveryState[]): DeliveryState {
  const failed = parts.find((part) => part.status === 'failed')
  if (failed !== undefined) return failed
  const lowest = parts.reduce((low, part) => (rankOf(part) < rankOf(low) ? part : low), highest)
  return parts.length === 0 ? { status: 'pending', errorCode: null } : lowest
}

const highest: DeliveryState = { status: 'read', errorCode: null }

function rankOf({ status }: DeliveryState): number {
  return status === 'failed' ? -1 : ranks[status]
}
