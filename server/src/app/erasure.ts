import type { Db } from '../base/db.ts'
import { instanceScope } from '../base/encryption/key-store.ts'
import { createStep } from '../base/erasure.ts'
import { removeBatch, removeExpired } from '../base/retention.ts'
import { runStep } from '../base/run-step.ts'
import { eraseBroadcasts } from '../broadcasts/erase.ts'
import { eraseTemplateDrafts } from '../channels/templates/template-drafts.ts'
import { eraseFromSessions } from '../channels/unofficial/erase.ts'
import { eraseFromWebsites } from '../channels/website/erase.ts'
import { eraseConsents } from '../consents/store.ts'
import type { ErasureDeps } from '../erasure/erasure.ts'
import { eraseEvents } from '../events/erase.ts'
import { eraseSubmissions } from '../forms/submit/submissions.ts'
import { eraseConversations } from '../inbox/erase.ts'
import { eraseExpiredConversations } from '../inbox/retention.ts'
import { eraseKnowledgeDrafts } from '../knowledge/conversation-draft.ts'
import { eraseLeads } from '../leads/erase.ts'
import { deleteExpiredSnapshots } from '../leads/merge/merge-records.ts'
import { deleteOldBulkChanges, deleteOldImports } from '../leads/retention.ts'
import { eraseSourceRequests } from '../leads/sources/erase.ts'
import { eraseImportFiles } from '../leads/transfer/import/file-pieces.ts'
import { deleteOldMails } from '../mail/mails.ts'
import { deleteOldNotifications } from '../notifications/retention.ts'
import { eraseFacts } from '../reports/erase.ts'
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
      // First, because import files and requests that wait could recreate the customer.
      eraseImportFiles,
      eraseSourceRequests,
      // Before the leads: a customer who writes meanwhile still has a lead, so no new one is created.
      eraseConversations,
      async (tx, { workspaceId, customer }) => {
        const subjects = [...customer.conversationIds, ...customer.mergedIds]
        const { removed, hasMore } = await eraseEvents(tx, workspaceId, subjects, eraseDeliveries)
        return createStep(removed, hasMore)
      },
      eraseSubmissions,
      (tx, scope) => eraseLeads(tx, scope, eraseDeliveries),
      eraseFromSessions,
      eraseFromWebsites,
      eraseFilters,
      eraseBroadcasts,
      eraseTemplateDrafts,
      eraseKnowledgeDrafts,
      // After the conversations and leads, of which more may be counted until then.
      eraseFacts,
      // After all that could still record one.
      eraseConsents,
    ],
  }
}

/** Retention of the installation's own log. */
const instanceLog = { table: 'audit_log', scope: 'scope_id', order: 'id', time: 'at', days: defaultAuditDays } as const
const yearMs = 365 * 24 * 3_600_000

type RetentionDeps = Pick<Runtime, 'db' | 'clock'>

/** Deletes rows older than the retention period of their workspaces or of the service. Returns how many. */
export async function deleteExpiredRows({ db, clock }: RetentionDeps): Promise<number> {
  const now = clock.now()
  const counts = [
    await removeExpired(db, agingTables, now),
    await removeBatch(db, instanceLog, [instanceScope], now),
    await deleteOldImports(db, now),
    await deleteOldBulkChanges(db, now),
    await deleteExpiredSnapshots(db, now),
    await deleteEnded(db, new Date(now.getTime() - yearMs)),
    await deleteOldNotifications(db, now),
    await db.statement((tx) => deleteOldMails(tx, now)),
  ]
  return counts.reduce((sum, count) => sum + count, 0)
}

/** Deletes ended rotations, whose keys remain, and ended team tokens, whose actions remain in the audit log. */
async function deleteEnded(db: Db, before: Date): Promise<number> {
  const rotations = await db.statement((tx) => tx`delete from key_rotations where finished_at < ${before}`)
  const tokens = await db.statement((tx) => tx`delete from team_tokens where least(revoked_at, expires_at) < ${before}`)
  return rotations.count + tokens.count
}

/** Erases conversations without activity for longer than their workspaces' retention. Returns how many. */
export function eraseIdleConversations({ db, clock }: RetentionDeps): Promise<number> {
  return eraseExpiredConversations(db, clock.now(), eraseDeliveries)
}
