import { emailIndex, openPerson as openUser } from '../auth/users/users.ts'
import type { EncryptionContext } from '../base/encryption/encrypt.ts'
import type { EncryptedTable, IndexedTable, KeyedRow, KeyedTables } from '../base/encryption/key-store.ts'
import type { AgingTable } from '../base/retention.ts'
import { contentPlace } from '../channels/unofficial/send/sends.ts'
import { keyPlace } from '../channels/unofficial/transport/encrypted-auth-store.ts'
import { contactIndexes, decryptContact } from '../inbox/conversation/encrypted-conversation.ts'
import { decryptMessageText } from '../inbox/conversation/message.ts'
import { conversationTokens } from '../inbox/search/conversation-tokens.ts'
import { messageTokens } from '../inbox/search/message-tokens.ts'
import { bulkItemPlace } from '../leads/bulk/items.ts'
import { leadIndexes, openPerson } from '../leads/lead/encrypted-lead.ts'
import { searchTokens } from '../leads/lead/search-lines.ts'
import { contactDigest, contactPlace } from '../leads/merge/moves.ts'
import { piecePlace } from '../leads/transfer/import/pieces.ts'
import { answerContext } from '../webhooks/deliver/delivery.ts'
import { defaultAuditDays } from '../workspaces/workspace.ts'

/** What is said of a table once: what of it is under keys, and what goes with time. */
interface Table {
  name: string
  /** Whose keys are used: those of the workspace in `workspace_id` unless given. */
  keysOf?: EncryptedTable['keysOf']
  /** What tells the rows of one scope apart; `id` unless given. */
  key?: readonly string[]
  /** Sealed columns: bound to themselves and the first column of the key, or where a function says. */
  sealed?: readonly string[] | EncryptedTable['places']
  /** What those functions need of a row besides its key. */
  reads?: readonly string[]
  /** How many rows to hold in memory and under lock, where their values are large. */
  rowsAtOnce?: number
  /** Digests or tokens by which rows are found. */
  indexed?: Pick<IndexedTable, 'reads' | 'own' | 'source' | 'indexes'>
  /** For how long rows are kept, where that is all there is to say. */
  ages?: Partial<AgingTable> & Pick<AgingTable, 'time' | 'days'>
}

const at = (table: string, column: string, id: string) => (row: KeyedRow) => ({ table, row: row[id], column })

/** Every table that is written under keys, which a test compares with the schema, and those whose rows have their days. */
const tables: readonly Table[] = [
  {
    name: 'leads',
    sealed: ['person', 'notes', 'custom_fields'],
    indexed: {
      reads: ['person'],
      indexes: (keyring, { id, person }) => {
        // Nothing is left of a purged lead that one could look for.
        if (person.length === 0) return { index_version: keyring.indexVersion }
        const [, , email, phone] = openPerson(keyring, id, person)
        return leadIndexes(keyring, { email, phone })
      },
    },
  },
  {
    name: 'lead_search',
    key: ['lead_id'],
    indexed: {
      reads: ['person', 'unique_code', 'external_ref'],
      source: { table: 'leads', key: ['id'] },
      indexes: (keyring, row) => {
        const [firstName, lastName, email, phone, contacts] = openPerson(keyring, row.lead_id, row.person)
        const { unique_code: uniqueCode, external_ref: externalRef } = row
        const lead = { firstName, lastName, email, phone, contacts, uniqueCode, externalRef }
        return { tokens: searchTokens(keyring, lead), index_version: keyring.indexVersion }
      },
    },
  },
  { name: 'lead_imports', sealed: ['settings', 'report'] },
  {
    name: 'lead_import_pieces',
    key: ['import_id', 'kind', 'start'],
    rowsAtOnce: 4,
    sealed: { bytes: ({ import_id: importId, kind, start }) => piecePlace({ importId, kind }, start) },
  },
  {
    name: 'lead_bulk_items',
    key: ['change_id', 'lead_id'],
    sealed: { before: (row) => bulkItemPlace(row.change_id, row.lead_id) },
  },
  { name: 'lead_bulk_changes', sealed: ['filter'] },
  { name: 'lead_merges', sealed: ['former'] },
  {
    name: 'lead_contacts',
    sealed: ['value'],
    indexed: {
      reads: ['kind', 'value'],
      indexes: (keyring, { id, kind, value }) => ({
        digest: contactDigest(keyring, kind, keyring.decryptText(contactPlace(id), value)),
        index_version: keyring.indexVersion,
      }),
    },
  },
  { name: 'lead_notes', sealed: ['text'] },
  // What is only counted by the day, and asked for on that day: up to 17 rows. The day after is for clocks that differ.
  { name: 'lead_quota', ages: { order: 'day', time: 'day', days: 2 } },

  {
    name: 'conversations',
    sealed: ['contact', 'last_message', 'handover'],
    indexed: {
      reads: ['contact'],
      indexes: (keyring, { id, contact }) => contactIndexes(keyring, decryptContact(keyring, id, contact)),
    },
  },
  {
    name: 'conversation_search',
    key: ['conversation_id'],
    indexed: {
      reads: ['contact'],
      source: { table: 'conversations', key: ['id'] },
      indexes: (keyring, { conversation_id: id, contact }) => ({
        tokens: conversationTokens(keyring, decryptContact(keyring, id, contact)),
        index_version: keyring.indexVersion,
      }),
    },
  },
  { name: 'conversation_notes', sealed: ['text'] },
  { name: 'conversation_handovers', sealed: ['words'] },
  { name: 'conversation_activities', ages: { time: 'created_at', days: 'keep_activities_days' } },
  { name: 'messages', sealed: ['content', 'external_id'] },
  {
    name: 'message_search',
    key: ['message_id'],
    indexed: {
      own: ['epoch'],
      reads: ['content'],
      source: { table: 'messages', key: ['id'] },
      indexes: (keyring, { message_id: id, content, epoch }) => ({
        tokens: messageTokens(keyring, decryptMessageText(keyring, { id, content }), epoch),
        index_version: keyring.indexVersion,
      }),
    },
  },
  { name: 'media', sealed: ['details', 'file_key', 'platform_id'] },
  { name: 'parked_revisions', sealed: ['content'] },
  { name: 'dispatches', key: ['message_id'], sealed: { external_id: at('messages', 'external_id', 'message_id') } },
  {
    name: 'sends',
    key: ['sender_id', 'idempotency_key'],
    reads: ['message_id'],
    sealed: { fingerprint: at('sends', 'fingerprint', 'message_id') },
    // The index of messages, whose ids grow with time, serves for the sends that made them.
    ages: { order: 'message_id', time: 'created_at', days: 'keep_sends_days' },
  },

  { name: 'connections', sealed: ['settings'] },
  { name: 'channel_sessions', key: ['connection_id'], sealed: ['pairing'] },
  {
    name: 'session_keys',
    key: ['connection_id', 'type', 'digest'],
    sealed: { value: ({ connection_id, type, digest }) => keyPlace({ connection_id, type, digest }) },
  },
  {
    name: 'session_sends',
    key: ['connection_id', 'id'],
    sealed: { content: (row) => contentPlace(row.connection_id, row.id) },
  },

  { name: 'events', sealed: ['payload', 'changes'] },
  {
    name: 'form_submissions',
    sealed: ['answers'],
    ages: { time: 'submitted_at', days: 'keep_submissions_days' },
  },
  {
    name: 'users',
    keysOf: 'instance',
    sealed: ['person', 'totp_secret'],
    indexed: {
      reads: ['person'],
      indexes: (keyring, { id, person }) => ({
        email_index: emailIndex(keyring, openUser(keyring, id, person).email),
        index_version: keyring.indexVersion,
      }),
    },
  },
  { name: 'invitations', sealed: ['email', 'token'] },
  { name: 'webhook_endpoints', sealed: ['settings'] },
  {
    name: 'webhook_deliveries',
    key: ['endpoint_id', 'position'],
    reads: ['attempts'],
    sealed: { delivered_answer: (row) => answerOf(row, row.attempts) },
  },
  {
    name: 'webhook_attempts',
    key: ['endpoint_id', 'position', 'number'],
    sealed: { answer: (row) => answerOf(row, row.number) },
  },
  { name: 'saved_filters', sealed: ['content'] },
  { name: 'push_subscriptions', sealed: ['content'] },
  { name: 'push_keys', keysOf: 'instance', sealed: ['private_key'] },
  { name: 'audit_log', ages: { scope: 'scope_id', time: 'at', days: 'keep_audit_days' } },
  // What is left of an erasure, numbers, goes when the audit log of it does by default.
  { name: 'erasures', sealed: ['subject'], ages: { time: 'finished_at', days: defaultAuditDays } },
]

const answerOf = ({ endpoint_id: endpointId, position }: KeyedRow, number: number): EncryptionContext =>
  answerContext({ endpointId, position, number })

const isList = (sealed: NonNullable<Table['sealed']>): sealed is readonly string[] => Array.isArray(sealed)

export const keyedTables: KeyedTables = {
  sealed: tables.flatMap(({ name, keysOf = 'workspace', key = ['id'], sealed, reads = [], rowsAtOnce }) => {
    if (sealed === undefined) return []
    const id = key[0] ?? ''
    const own = (columns: readonly string[]) =>
      Object.fromEntries(columns.map((column) => [column, at(name, column, id)]))
    const places = isList(sealed) ? own(sealed) : sealed
    return { table: name, keysOf, key, places, reads, ...(rowsAtOnce !== undefined && { rowsAtOnce }) }
  }),
  indexed: tables.flatMap(({ name, keysOf = 'workspace', key = ['id'], indexed }) =>
    indexed === undefined ? [] : { table: name, keysOf, key, ...indexed },
  ),
}

export const agingTables: readonly AgingTable[] = tables.flatMap(({ name, ages }) =>
  ages === undefined ? [] : { table: name, scope: 'workspace_id', order: 'id', ...ages },
)
