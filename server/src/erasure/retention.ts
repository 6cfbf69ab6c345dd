import type { AgingTable } from '../base/retention.ts'

/** What is left of an erasure, numbers, goes when the audit log of it does by default. */
export const agingErasureTables: readonly AgingTable[] = [
  { table: 'erasures', scope: 'workspace_id', order: 'id', time: 'finished_at', days: 730 },
]
