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

/** Encryption and retention of a table. */
interface Table {
  name: string
  /** Scope of the keys: by default the workspace in `workspace_id`. */
  keysOf?: EncryptedTable['keysOf']
  /** Columns that identify a row within a scope; default `id`. */
  key?: readonly string[]
  /** Encrypted columns, bound to themselves and the first key column, or to the result of a function. */
  sealed?: readonly string[] | EncryptedTable['places']
  /** Columns that those functions read besides the key. */
  reads?: readonly string[]
  /** Number of rows to load and lock at once, for tables with large values. */
  rowsAtOnce?: number
  /** Digests or tokens for finding rows. */
  indexed?: Pick<IndexedTable, 'reads' | 'own' | 'source' | 'indexes'>
  /** Retention, if it depends only on age. */
  ages?: Partial<AgingTable> & Pick<AgingTable, 'time' | 'days'>
}

const at = (table: string, column: string, id: string) => (row: KeyedRow) => ({ table, row: row[id], column })

/** Every table with encrypted data, which a test compares with the schema, and those with a retention period. */
const tables: readonly Table[] = [
  {
    name: 'leads',
    sealed: ['person', 'notes', 'custom_fields'],
    indexed: {
      reads: ['person'],
      indexes: (keyring, { id, person }) => {
        // A purged lead has no values to search for.
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
  // Only counted and read by day: up to 17 rows. Kept a day longer because clocks may differ.
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
    // Sends use the index of messages, whose ids grow with time.
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
  // The counts of an erasure are kept as long as the audit log by default.
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
