import type { IndexedTable, KeyedRow, SealedTable } from '../base/sealing/keyed-table.ts'
import { openText } from './conversation/message.ts'
import { contactIndexes, openContact } from './conversation/sealed.ts'
import { conversationTokens } from './search/conversation-lines.ts'
import { messageTokens } from './search/message-tokens.ts'

/** Where a column's values are bound to, by default the row and column they stand in. */
const place = (table: string, column: string, id: string) => (row: KeyedRow) => ({ table, row: row[id], column })

export const sealedInboxTables: readonly SealedTable[] = [
  {
    table: 'conversations',
    keysOf: 'workspace',
    key: ['id'],
    places: {
      contact: place('conversations', 'contact', 'id'),
      last_message: place('conversations', 'last_message', 'id'),
      handover: place('conversations', 'handover', 'id'),
    },
  },
  {
    table: 'messages',
    keysOf: 'workspace',
    key: ['id'],
    places: { content: place('messages', 'content', 'id'), external_id: place('messages', 'external_id', 'id') },
  },
  {
    table: 'media',
    keysOf: 'workspace',
    key: ['id'],
    places: {
      details: place('media', 'details', 'id'),
      file_key: place('media', 'file_key', 'id'),
      platform_id: place('media', 'platform_id', 'id'),
    },
  },
  {
    table: 'parked_revisions',
    keysOf: 'workspace',
    key: ['id'],
    places: { content: place('parked_revisions', 'content', 'id') },
  },
  {
    table: 'conversation_notes',
    keysOf: 'workspace',
    key: ['id'],
    places: { text: place('conversation_notes', 'text', 'id') },
  },
  {
    table: 'conversation_handovers',
    keysOf: 'workspace',
    key: ['id'],
    places: { words: place('conversation_handovers', 'words', 'id') },
  },
  {
    table: 'dispatches',
    keysOf: 'workspace',
    key: ['message_id'],
    places: { external_id: place('messages', 'external_id', 'message_id') },
  },
  {
    table: 'sends',
    keysOf: 'workspace',
    key: ['sender_id', 'idempotency_key'],
    reads: ['message_id'],
    places: { fingerprint: place('sends', 'fingerprint', 'message_id') },
  },
]

export const indexedInboxTables: readonly IndexedTable[] = [
  {
    table: 'conversations',
    keysOf: 'workspace',
    key: ['id'],
    reads: ['contact'],
    indexes: (keyring, { id, contact }) => contactIndexes(keyring, openContact(keyring, id, contact)),
  },
  {
    table: 'message_search',
    keysOf: 'workspace',
    key: ['message_id'],
    own: ['epoch'],
    reads: ['content'],
    source: { table: 'messages', key: ['id'] },
    indexes: (keyring, { message_id: id, content, epoch }) => ({
      tokens: messageTokens(keyring, openText(keyring, { id, content }), epoch),
      index_version: keyring.indexVersion,
    }),
  },
  {
    table: 'conversation_search',
    keysOf: 'workspace',
    key: ['conversation_id'],
    reads: ['contact'],
    source: { table: 'conversations', key: ['id'] },
    indexes: (keyring, { conversation_id: id, contact }) => ({
      tokens: conversationTokens(keyring, openContact(keyring, id, contact)),
      index_version: keyring.indexVersion,
    }),
  },
]
