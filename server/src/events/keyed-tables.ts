import type { SealedTable } from '../base/sealing/keyed-table.ts'
import { changesPlace } from './record.ts'

export const sealedEventTables: readonly SealedTable[] = [
  {
    table: 'events',
    keysOf: 'workspace',
    key: ['id'],
    places: {
      payload: ({ id }) => ({ table: 'events', row: id, column: 'payload' }),
      changes: ({ id }) => changesPlace(id),
    },
  },
]
