import type { IndexedTable, KeyedRow, SealedTable } from '../base/keyed-table.ts'
import { leadIndexes, openPerson } from './sealed.ts'
import { searchTokens } from './search-lines.ts'

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
    const [firstName, lastName, email, phone] = openPerson(keyring, row.lead_id, row.person)
    const { unique_code: uniqueCode, external_ref: externalRef } = row
    const tokens = searchTokens(keyring, { firstName, lastName, email, phone, uniqueCode, externalRef })
    return { tokens, index_version: keyring.indexVersion }
  },
}

export const sealedLeadTables = [leads]
export const indexedLeadTables = [leadDigests, leadTokens]
