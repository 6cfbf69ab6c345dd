import type { SealedTable } from '../base/sealing/keyed-table.ts'
import { answersOf } from './submit/submissions.ts'

export const sealedFormTables: readonly SealedTable[] = [
  { table: 'form_submissions', keysOf: 'workspace', key: ['id'], places: { answers: ({ id }) => answersOf(id) } },
]
