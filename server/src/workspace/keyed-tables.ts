import type { SealedTable } from '../base/sealing/keyed-table.ts'

export const sealedWorkspaceTables: readonly SealedTable[] = [
  {
    table: 'saved_filters',
    keysOf: 'workspace',
    key: ['id'],
    places: { content: ({ id }) => ({ table: 'saved_filters', row: id, column: 'content' }) },
  },
]
