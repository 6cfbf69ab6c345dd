import type { AgingTable } from '../base/retention.ts'

export const agingFormTables: readonly AgingTable[] = [
  {
    table: 'form_submissions',
    scope: 'workspace_id',
    order: 'id',
    time: 'submitted_at',
    days: 'keep_submissions_days',
  },
]
