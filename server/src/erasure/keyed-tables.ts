import type { SealedTable } from '../base/sealing/keyed-table.ts'
import { subjectPlace } from './erasure.ts'

export const sealedErasureTables: readonly SealedTable[] = [
  { table: 'erasures', keysOf: 'workspace', key: ['id'], places: { subject: ({ id }) => subjectPlace(id) } },
]
