import { forgetTokens } from '../access/retention.ts'
import { removeAged, removeAgedOf } from '../base/retention.ts'
import { instanceScope } from '../base/sealing/vault.ts'
import { agingErasureTables } from '../erasure/retention.ts'
import { agingFormTables } from '../forms/retention.ts'
import { agingInboxTables, eraseQuietConversations } from '../inbox/retention.ts'
import { forgetBulkChanges } from '../leads/bulk/retention.ts'
import { forgetFormer } from '../leads/merge/merges.ts'
import { agingLeadTables, forgetImports } from '../leads/retention.ts'
import { forgetNotices } from '../notices/retention.ts'
import { forgetRotations } from '../rotation/retention.ts'
import { eraseDeliveries } from '../webhooks/erase.ts'
import { agingInstanceLog, agingWorkspaceTables } from '../workspace/retention.ts'
import type { Runtime } from './runtime.ts'

const agingTables = [
  ...agingWorkspaceTables,
  ...agingInboxTables,
  ...agingFormTables,
  ...agingLeadTables,
  ...agingErasureTables,
]

type RetentionDeps = Pick<Runtime, 'db' | 'clock'>

/** Removes what has been kept for as long as the workspaces, or the service itself, want it. Returns how many rows. */
export async function removeOld({ db, clock }: RetentionDeps): Promise<number> {
  const now = clock.now()
  const counts = [
    await removeAged(db, agingTables, now),
    await removeAgedOf(db, agingInstanceLog, instanceScope, now),
    await forgetImports(db, now),
    await forgetBulkChanges(db, now),
    await forgetFormer(db, now),
    await forgetRotations(db, now),
    await forgetTokens(db, now),
    await forgetNotices(db, now),
  ]
  return counts.reduce((sum, count) => sum + count, 0)
}

/** Erases conversations that have been quiet for longer than their workspaces keep them. Returns how many. */
export function eraseQuiet({ db, clock }: RetentionDeps): Promise<number> {
  return eraseQuietConversations(db, clock.now(), eraseDeliveries)
}
