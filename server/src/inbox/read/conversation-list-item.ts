import type { Sql } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import type { EncryptedColumns } from '../../base/encryption/plaintext-cache.ts'
import { type ColumnSource, currentColumns } from '../conversation/activity-columns.ts'
import type { Contact, Conversation, LastMessage } from '../conversation/conversation.ts'
import {
  type ConversationRow,
  inboundMarksOf,
  ownerOf,
  priorityOf,
  threadOf,
} from '../conversation/encrypted-conversation.ts'
import type { OpenHandover } from '../conversation/owner.ts'

/** Fields of a list row, for every reader. */
export type ConversationListItem = Pick<
  Conversation,
  | ('id' | 'connectionId' | 'channel' | 'owner' | 'status' | 'snoozedUntil' | 'assignedTo' | 'labelIds')
  | ('unreadCount' | 'windowExpiresAt' | 'lastMessageAt' | 'updatedAt')
> & { contact: Pick<Contact, 'name' | 'phone'> }

/** Encrypted values as `Keyring.decryptCached` takes them: most were decrypted before. */
export interface ListItemRow extends Omit<ConversationRow, 'contact' | 'last_message' | 'handover' | TeamColumn> {
  contact: string
}

/** With the additional fields of the team's list. */
export interface TeamListItemRow extends ListItemRow, Pick<ConversationRow, TeamColumn> {
  last_message: string | null
  handover: string | null
  goal_due_at: Date | null
}

type TeamColumn =
  | ('owner_epoch' | 'owner_since' | 'held' | 'team_id' | 'priority' | 'goal' | 'unanswered_since' | 'created_at')
  | ('newest_inbound_id' | 'seen_inbound_id' | 'answered_inbound_id' | 'thread_owner' | 'thread_at')

export const listItemColumns = (sql: Sql, source: ColumnSource = currentColumns) => sql`
  c.id,
  c.connection_id,
  c.channel,
  encode(c.contact, 'base64') as contact,
  c.owner_key_id,
  c.status,
  c.snoozed_until,
  c.assigned_to,
  c.label_ids,
  ${source.unreadCount(sql)} as unread_count,
  c.window_expires_at,
  ${source.lastMessageAt(sql)} as last_message_at,
  ${source.updatedAt(sql)} as updated_at`

export const teamListItemColumns = (sql: Sql, source: ColumnSource = currentColumns) => sql`
  ${listItemColumns(sql, source)},
  c.owner_epoch,
  c.owner_since,
  c.held,
  c.team_id,
  c.priority,
  c.goal,
  ${source.goalDueAt(sql)} as goal_due_at,
  encode(c.handover, 'base64') as handover,
  ${source.unansweredSince(sql)} as unanswered_since,
  c.newest_inbound_id,
  c.seen_inbound_id,
  c.answered_inbound_id,
  c.thread_owner,
  c.thread_at,
  encode(c.last_message, 'base64') as last_message,
  c.created_at`

const encryptedJson = <T>(column: string): EncryptedColumns<T> => ({
  table: 'conversations',
  columns: [column],
  read: (plain) => JSON.parse(plain ?? '') as T,
})

const contact = encryptedJson<Contact>('contact')
const lastMessage = encryptedJson<LastMessage>('last_message')
const handover = encryptedJson<OpenHandover>('handover')

/** Returns the contact when nothing else of the conversation is shown. */
export const decryptCachedContact = (keyring: Keyring, row: Pick<ListItemRow, 'id' | 'contact'>): Contact =>
  keyring.decryptCached(contact, row.id, row.contact)

export const decryptListItem = (keyring: Keyring, row: ListItemRow) => ({
  id: row.id,
  connectionId: row.connection_id,
  channel: row.channel,
  contact: decryptCachedContact(keyring, row),
  owner: ownerOf(row),
  status: row.status,
  snoozedUntil: row.snoozed_until,
  assignedTo: row.assigned_to,
  labelIds: row.label_ids,
  unreadCount: row.unread_count,
  windowExpiresAt: row.window_expires_at,
  lastMessageAt: row.last_message_at,
  updatedAt: row.updated_at,
})

export function decryptTeamListItem(keyring: Keyring, row: TeamListItemRow): Conversation {
  return {
    ...decryptListItem(keyring, row),
    ownerEpoch: row.owner_epoch,
    ownerSince: row.owner_since,
    held: row.held && row.owner_key_id === null,
    teamId: row.team_id,
    priority: priorityOf(row.priority),
    goal: row.goal,
    handover: row.handover === null ? null : keyring.decryptCached(handover, row.id, row.handover),
    unansweredSince: row.unanswered_since,
    inbound: inboundMarksOf(row),
    thread: threadOf(row),
    lastMessage: row.last_message === null ? null : keyring.decryptCached(lastMessage, row.id, row.last_message),
    createdAt: row.created_at,
  }
}
