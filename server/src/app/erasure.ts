import type { Db } from '../base/db.ts'
import { instanceScope } from '../base/encryption/key-store.ts'
import { goOn } from '../base/erasure.ts'
import { removeAged, removeAgedOf } from '../base/retention.ts'
import { runStep } from '../base/steps.ts'
import { eraseFromSessions } from '../channels/unofficial/erase.ts'
import type { ErasureDeps } from '../erasure/erasure.ts'
import { eraseEvents } from '../events/erase.ts'
import { eraseSubmissions } from '../forms/submit/submissions.ts'
import { eraseConversations } from '../inbox/erase.ts'
import { eraseExpiredConversations } from '../inbox/retention.ts'
import { eraseLeads } from '../leads/erase.ts'
import { forgetFormer } from '../leads/merge/merges.ts'
import { forgetBulkChanges, forgetImports } from '../leads/retention.ts'
import { eraseImportFiles } from '../leads/transfer/import/pieces.ts'
import { deleteOldNotifications } from '../notifications/retention.ts'
import { eraseDeliveries } from '../webhooks/erase.ts'
import { eraseFilters } from '../workspaces/saved-filters.ts'
import { defaultAuditDays } from '../workspaces/workspace.ts'
import type { Runtime } from './runtime.ts'
import { agingTables } from './tables.ts'

/** Erases a customer from every module. When you add a part, update the rows in `docs/decisions/022-erasure.md`. */
export function erasureDeps({ db, keyStore, clock }: Pick<Runtime, 'db' | 'keyStore' | 'clock'>): ErasureDeps {
  return {
    db,
    keyStore,
    clock,
    step: runStep,
    parts: [
      // First, because import files could recreate the customer.
      eraseImportFiles,
      // Before the leads: a customer who writes meanwhile still has a lead, so no new one is created.
      eraseConversations,
      async (tx, { workspaceId, customer }) => {
        const subjects = [...customer.conversationIds, ...customer.mergedIds]
        const { removed, hasMore } = await eraseEvents(tx, workspaceId, subjects, eraseDeliveries)
        return goOn(removed, hasMore)
      },
      eraseSubmissions,
      (tx, scope) => eraseLeads(tx, scope, eraseDeliveries),
      eraseFromSessions,
      eraseFilters,
    ],
  }
}

/** Retention of the installation's own log. */
const instanceLog = { table: 'audit_log', scope: 'scope_id', order: 'id', time: 'at', days: defaultAuditDays } as const
const yearMs = 365 * 24 * 3_600_000

type RetentionDeps = Pick<Runtime, 'db' | 'clock'>

/** Deletes rows older than the retention period of their workspaces or of the service. Returns how many. */
export async function removeOld({ db, clock }: RetentionDeps): Promise<number> {
  const now = clock.now()
  const counts = [
    await removeAged(db, agingTables, now),
    await removeAgedOf(db, instanceLog, instanceScope, now),
    await forgetImports(db, now),
    await forgetBulkChanges(db, now),
    await forgetFormer(db, now),
    await forgetEnded(db, new Date(now.getTime() - yearMs)),
    await deleteOldNotifications(db, now),
  ]
  return counts.reduce((sum, count) => sum + count, 0)
}

/** Deletes ended rotations, whose keys remain, and ended team tokens, whose actions remain in the audit log. */
async function forgetEnded(db: Db, before: Date): Promise<number> {
  const rotations = await db.statement((tx) => tx`delete from key_rotations where finished_at < ${before}`)
  const tokens = await db.statement((tx) => tx`delete from team_tokens where least(revoked_at, expires_at) < ${before}`)
  return rotations.count + tokens.count
}

/** Erases conversations without activity for longer than their workspaces' retention. Returns how many. */
export function eraseQuiet({ db, clock }: RetentionDeps): Promise<number> {
  return eraseExpiredConversations(db, clock.now(), eraseDeliveries)
}
