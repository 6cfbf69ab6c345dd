import { scimUserIndexes } from '../auth/scim/users.ts'
import { emailIndex, decryptPerson as openUser } from '../auth/users/users.ts'
import type { EncryptionContext } from '../base/encryption/encrypt.ts'
import type { EncryptedTable, IndexedTable, KeyedRow, KeyedTables } from '../base/encryption/key-store.ts'
import type { RetentionTable } from '../base/retention.ts'
import { contentPlace } from '../channels/unofficial/send/sends.ts'
import { keyPlace } from '../channels/unofficial/transport/encrypted-auth-store.ts'
import { decryptProfile, visitorIndexes } from '../channels/website/visitors.ts'
import { consentIndexes, decryptCustomer } from '../consents/store.ts'
import { contactIndexes, decryptContact } from '../inbox/conversation/encrypted-conversation.ts'
import { decryptMessageText } from '../inbox/conversation/message.ts'
import { conversationTokens } from '../inbox/search/conversation-tokens.ts'
import { messageTokens } from '../inbox/search/message-tokens.ts'
import { bulkItemContext } from '../leads/bulk/items.ts'
import { decryptPerson, leadIndexes } from '../leads/lead/encrypted-lead.ts'
import { searchTokens } from '../leads/lead/search-lines.ts'
import { contactContext, contactDigest } from '../leads/merge/move-rows.ts'
import { pieceContext } from '../leads/transfer/import/file-pieces.ts'
import { resultContext } from '../scenarios/store/runs.ts'
import { answerContext } from '../webhooks/deliver/delivery.ts'
import { defaultAuditDays } from '../workspaces/workspace.ts'

/** Encryption and retention of a table. */
interface Table {
  name: string
  /** Scope of the keys: by default the workspace in `workspace_id`. */
  keyScope?: EncryptedTable['keyScope']
  /** Columns that identify a row within a scope; default `id`. */
  key?: readonly string[]
  /** Encrypted columns, bound to themselves and the first key column, or to the result of a function. */
  sealed?: readonly string[] | EncryptedTable['locations']
  /** Columns that those functions read besides the key. */
  reads?: readonly string[]
  /** Number of rows to load and lock at once, for tables with large values. */
  rowsAtOnce?: number
  /** Digests or tokens for finding rows. */
  indexed?: Pick<IndexedTable, 'reads' | 'own' | 'source' | 'computeIndexes'>
  /** Retention, if it depends only on age. */
  ages?: Partial<RetentionTable> & Pick<RetentionTable, 'time' | 'days'>
}

const at = (table: string, column: string, id: string) => (row: KeyedRow) => ({ table, row: row[id], column })

/** Every table with encrypted data, which a test compares with the schema, and those with a retention period. */
const tables: readonly Table[] = [
  {
    name: 'leads',
    sealed: ['person', 'notes', 'custom_fields'],
    indexed: {
      reads: ['person'],
      computeIndexes: (keyring, { id, person }) => {
        // A purged lead has no values to search for.
        if (person.length === 0) return { index_version: keyring.indexVersion }
        const [, , email, phone] = decryptPerson(keyring, id, person)
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
      computeIndexes: (keyring, row) => {
        const [firstName, lastName, email, phone, contacts] = decryptPerson(keyring, row.lead_id, row.person)
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
    sealed: { bytes: ({ import_id: importId, kind, start }) => pieceContext({ importId, kind }, start) },
  },
  {
    name: 'lead_bulk_items',
    key: ['change_id', 'lead_id'],
    sealed: { before: (row) => bulkItemContext(row.change_id, row.lead_id) },
  },
  { name: 'lead_bulk_changes', sealed: ['filter'] },
  { name: 'lead_merges', sealed: ['former'] },
  {
    name: 'lead_contacts',
    sealed: ['value'],
    indexed: {
      reads: ['kind', 'value'],
      computeIndexes: (keyring, { id, kind, value }) => ({
        digest: contactDigest(keyring, kind, keyring.decryptText(contactContext(id), value)),
        index_version: keyring.indexVersion,
      }),
    },
  },
  { name: 'lead_notes', sealed: ['text'] },
  { name: 'lead_sources', sealed: ['settings'] },
  {
    name: 'lead_source_requests',
    sealed: ['content', 'result'],
    ages: { order: 'received_at', time: 'received_at', days: 30 },
  },
  { name: 'lead_attributions', key: ['lead_id'], sealed: ['first_touch', 'last_touch'] },
  { name: 'report_campaigns', sealed: ['name'] },
  // Only counted and read by day: up to 17 rows. Kept a day longer because clocks may differ.
  { name: 'lead_quota', ages: { order: 'day', time: 'day', days: 2 } },

  {
    name: 'conversations',
    sealed: ['contact', 'last_message', 'handover'],
    indexed: {
      reads: ['contact'],
      computeIndexes: (keyring, { id, contact }) => contactIndexes(keyring, decryptContact(keyring, id, contact)),
    },
  },
  {
    name: 'conversation_search',
    key: ['conversation_id'],
    indexed: {
      reads: ['contact'],
      source: { table: 'conversations', key: ['id'] },
      computeIndexes: (keyring, { conversation_id: id, contact }) => ({
        tokens: conversationTokens(keyring, decryptContact(keyring, id, contact)),
        index_version: keyring.indexVersion,
      }),
    },
  },
  { name: 'conversation_notes', sealed: ['text'] },
  { name: 'conversation_handovers', sealed: ['words'] },
  { name: 'drafts', sealed: ['content', 'decision'] },
  { name: 'reviews', sealed: ['comment'] },
  { name: 'tasks', sealed: ['title'], ages: { order: 'done_at', time: 'done_at', days: 366 } },
  { name: 'scheduled_messages', sealed: ['content'], ages: { order: 'closed_at', time: 'closed_at', days: 90 } },
  { name: 'satisfaction_ratings', ages: { order: 'created_at', time: 'created_at', days: 3 * 366 } },
  { name: 'automation_runs', ages: { time: 'created_at', days: 30 } },
  { name: 'broadcasts', sealed: ['content'] },
  { name: 'broadcast_recipients', ages: { time: 'created_at', days: 366 } },
  { name: 'sequence_runs', ages: { order: 'ended_at', time: 'ended_at', days: 366 } },
  // After their last run.
  { name: 'sequences', ages: { order: 'removed_at', time: 'removed_at', days: 400 } },
  { name: 'conversation_activities', ages: { time: 'created_at', days: 'keep_activities_days' } },
  { name: 'messages', sealed: ['content', 'external_id'] },
  {
    name: 'message_search',
    key: ['message_id'],
    indexed: {
      own: ['epoch'],
      reads: ['content'],
      source: { table: 'messages', key: ['id'] },
      computeIndexes: (keyring, { message_id: id, content, epoch }) => ({
        tokens: messageTokens(keyring, decryptMessageText(keyring, { id, content }), epoch),
        index_version: keyring.indexVersion,
      }),
    },
  },
  { name: 'media', sealed: ['details', 'file_key', 'platform_id'] },
  // Two years to compare with the platform's invoices, and the one that is running.
  { name: 'message_charges', ages: { order: 'charged_at', time: 'charged_at', days: 3 * 366 } },
  { name: 'volume_tiers', ages: { order: 'reached_at', time: 'reached_at', days: 3 * 366 } },
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
  { name: 'template_drafts', sealed: ['content'] },
  // Customers' text: a draft that nobody has published by then is not needed.
  { name: 'knowledge_drafts', sealed: ['content'], ages: { time: 'created_at', days: 90 } },
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

  {
    name: 'website_visitors',
    sealed: ['profile'],
    indexed: {
      reads: ['profile', 'connection_id'],
      computeIndexes: (keyring, { id, profile, connection_id: connectionId }) =>
        visitorIndexes(keyring, connectionId, decryptProfile(keyring, { id, profile })),
    },
    ages: { order: 'last_seen_at', time: 'last_seen_at', days: 'keep_conversations_days' },
  },
  { name: 'website_sessions', ages: { order: 'expires_at', time: 'expires_at', days: 1 } },
  {
    name: 'website_messages',
    sealed: ['content'],
    ages: { order: 'created_at', time: 'created_at', days: 'keep_conversations_days' },
  },
  // The inbox fetches them within seconds; it retries for a day.
  {
    name: 'website_files',
    sealed: ['bytes'],
    rowsAtOnce: 4,
    ages: { order: 'created_at', time: 'created_at', days: 2 },
  },

  {
    name: 'consents',
    sealed: ['customer'],
    indexed: {
      reads: ['customer'],
      computeIndexes: (keyring, { id, customer }) => consentIndexes(keyring, decryptCustomer(keyring, id, customer)),
    },
  },
  { name: 'events', sealed: ['payload', 'changes'] },
  {
    name: 'form_submissions',
    sealed: ['answers'],
    ages: { time: 'submitted_at', days: 'keep_submissions_days' },
  },
  {
    name: 'users',
    keyScope: 'instance',
    sealed: ['person', 'totp_secret'],
    indexed: {
      reads: ['person'],
      computeIndexes: (keyring, { id, person }) => ({
        email_index: emailIndex(keyring, openUser(keyring, id, person).email),
        index_version: keyring.indexVersion,
      }),
    },
  },
  { name: 'sso_providers', keyScope: 'instance', sealed: ['settings', 'test'] },
  {
    name: 'scim_users',
    keyScope: 'instance',
    sealed: ['resource'],
    indexed: {
      reads: ['resource'],
      computeIndexes: (keyring, { id, resource }) => scimUserIndexes(keyring, id, resource),
    },
  },
  { name: 'invitations', sealed: ['email', 'token'] },
  { name: 'mails', keyScope: 'instance', sealed: ['content', 'answer'] },
  { name: 'oauth_codes', ages: { order: 'expires_at', time: 'expires_at', days: 1 } },
  { name: 'oauth_tokens', ages: { order: 'expires_at', time: 'expires_at', days: 1 } },
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
  { name: 'push_keys', keyScope: 'instance', sealed: ['private_key'] },
  { name: 'sandbox_calls', sealed: ['content'] },
  { name: 'scenarios', sealed: ['content'] },
  {
    name: 'scenario_results',
    key: ['run_id', 'position'],
    sealed: { content: (row) => resultContext(row.run_id, row.position) },
  },
  { name: 'audit_log', ages: { scope: 'scope_id', time: 'at', days: 'keep_audit_days' } },
  // The counts of an erasure are kept as long as the audit log by default.
  { name: 'erasures', sealed: ['subject'], ages: { time: 'finished_at', days: defaultAuditDays } },
]

const answerOf = ({ endpoint_id: endpointId, position }: KeyedRow, number: number): EncryptionContext =>
  answerContext({ endpointId, position, number })

const isList = (sealed: NonNullable<Table['sealed']>): sealed is readonly string[] => Array.isArray(sealed)

export const keyedTables: KeyedTables = {
  encrypted: tables.flatMap(({ name, keyScope = 'workspace', key = ['id'], sealed, reads = [], rowsAtOnce }) => {
    if (sealed === undefined) return []
    const id = key[0] ?? ''
    const own = (columns: readonly string[]) =>
      Object.fromEntries(columns.map((column) => [column, at(name, column, id)]))
    const locations = isList(sealed) ? own(sealed) : sealed
    return { table: name, keyScope, key, locations, reads, ...(rowsAtOnce !== undefined && { rowsAtOnce }) }
  }),
  indexed: tables.flatMap(({ name, keyScope = 'workspace', key = ['id'], indexed }) =>
    indexed === undefined ? [] : { table: name, keyScope, key, ...indexed },
  ),
}

export const agingTables: readonly RetentionTable[] = tables.flatMap(({ name, ages }) =>
  ages === undefined ? [] : { table: name, scope: 'workspace_id', order: 'id', ...ages },
)
