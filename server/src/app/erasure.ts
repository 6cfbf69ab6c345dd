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

/** What every room erases of a customer. Stored rows of what is added here are for `docs/decisions/022-erasure.md`. */
export function erasureDeps({ db, keyStore, clock }: Pick<Runtime, 'db' | 'keyStore' | 'clock'>): ErasureDeps {
  return {
    db,
    keyStore,
    clock,
    step: runStep,
    parts: [
      // First what would bring the customer back.
      eraseImportFiles,
      // Before the leads: a customer who writes meanwhile is a lead still, and no new one is made of them.
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

/** The log of the installation itself. */
const instanceLog = { table: 'audit_log', scope: 'scope_id', order: 'id', time: 'at', days: defaultAuditDays } as const
const yearMs = 365 * 24 * 3_600_000

type RetentionDeps = Pick<Runtime, 'db' | 'clock'>

/** Removes what has been kept for as long as the workspaces, or the service itself, want it. Returns how many rows. */
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

/** Rotations that ended, of which the keys stay, and team tokens that did, of which the audit log says what they did. */
async function forgetEnded(db: Db, before: Date): Promise<number> {
  const rotations = await db.statement((tx) => tx`delete from key_rotations where finished_at < ${before}`)
  const tokens = await db.statement((tx) => tx`delete from team_tokens where least(revoked_at, expires_at) < ${before}`)
  return rotations.count + tokens.count
}

/** Erases conversations that have been quiet for longer than their workspaces keep them. Returns how many. */
export function eraseQuiet({ db, clock }: RetentionDeps): Promise<number> {
  return eraseExpiredConversations(db, clock.now(), eraseDeliveries)
}
