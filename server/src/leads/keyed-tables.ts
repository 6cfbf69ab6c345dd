import type { IndexedTable, KeyedRow, SealedTable } from '../base/sealing/keyed-table.ts'
import { filterPlace } from './bulk/collect.ts'
import { bulkItemPlace } from './bulk/items.ts'
import { leadIndexes, openPerson } from './lead/sealed.ts'
import { searchTokens } from './lead/search-lines.ts'
import { contactDigest } from './merge/contacts.ts'
import { contactPlace, mergePlace } from './merge/merges.ts'
import { piecePlace } from './transfer/import/pieces.ts'
import { importPlace } from './transfer/import/settings.ts'

const place = (column: string) => (row: KeyedRow) => ({ table: 'leads', row: row.id, column })

const leads: SealedTable = {
  table: 'leads',
  keysOf: 'workspace',
  key: ['id'],
  places: { person: place('person'), notes: place('notes'), custom_fields: place('custom_fields') },
}

const leadDigests: IndexedTable = {
  table: 'leads',
  keysOf: 'workspace',
  key: ['id'],
  reads: ['person'],
  indexes: (keyring, { id, person }) => {
    // Nothing is left of a purged lead that one could look for.
    if (person.length === 0) return { index_version: keyring.indexVersion }
    const [, , email, phone] = openPerson(keyring, id, person)
    return leadIndexes(keyring, { email, phone })
  },
}

const leadTokens: IndexedTable = {
  table: 'lead_search',
  keysOf: 'workspace',
  key: ['lead_id'],
  reads: ['person', 'unique_code', 'external_ref'],
  source: { table: 'leads', key: ['id'] },
  indexes: (keyring, row) => {
    const [firstName, lastName, email, phone, contacts] = openPerson(keyring, row.lead_id, row.person)
    const { unique_code: uniqueCode, external_ref: externalRef } = row
    const tokens = searchTokens(keyring, { firstName, lastName, email, phone, contacts, uniqueCode, externalRef })
    return { tokens, index_version: keyring.indexVersion }
  },
}

const imports: SealedTable = {
  table: 'lead_imports',
  keysOf: 'workspace',
  key: ['id'],
  places: { settings: ({ id }) => importPlace(id, 'settings'), report: ({ id }) => importPlace(id, 'report') },
}

const importPieces: SealedTable = {
  table: 'lead_import_pieces',
  keysOf: 'workspace',
  key: ['import_id', 'kind', 'start'],
  rowsAtOnce: 4,
  places: { bytes: ({ import_id: importId, kind, start }) => piecePlace({ importId, kind }, start) },
}

const bulkItems: SealedTable = {
  table: 'lead_bulk_items',
  keysOf: 'workspace',
  key: ['change_id', 'lead_id'],
  places: { before: ({ change_id: changeId, lead_id: leadId }) => bulkItemPlace(changeId, leadId) },
}

const bulkChanges: SealedTable = {
  table: 'lead_bulk_changes',
  keysOf: 'workspace',
  key: ['id'],
  places: { filter: ({ id }) => filterPlace(id) },
}

const merges: SealedTable = {
  table: 'lead_merges',
  keysOf: 'workspace',
  key: ['id'],
  places: { former: ({ id }) => mergePlace(id) },
}

const contacts: SealedTable = {
  table: 'lead_contacts',
  keysOf: 'workspace',
  key: ['id'],
  places: { value: ({ id }) => contactPlace(id) },
}

const contactDigests: IndexedTable = {
  table: 'lead_contacts',
  keysOf: 'workspace',
  key: ['id'],
  reads: ['kind', 'value'],
  indexes: (keyring, { id, kind, value }) => ({
    digest: contactDigest(keyring, kind, keyring.openText(contactPlace(id), value)),
    index_version: keyring.indexVersion,
  }),
}

export const sealedLeadTables = [leads, imports, importPieces, bulkItems, bulkChanges, merges, contacts]
export const indexedLeadTables = [leadDigests, leadTokens, contactDigests]
