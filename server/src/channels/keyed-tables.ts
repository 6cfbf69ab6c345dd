import type { SealedTable } from '../base/keyed-table.ts'
import { settingsPlace } from './sealed.ts'

export const sealedChannelTables: readonly SealedTable[] = [
  { table: 'connections', keysOf: 'workspace', key: ['id'], places: { settings: ({ id }) => settingsPlace(id) } },
]
