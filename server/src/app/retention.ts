import type { Db } from '../base/db.ts'
import { removeAged, removeAgedOf } from '../base/retention.ts'
import { instanceScope } from '../base/sealing/vault.ts'
import { eraseQuietConversations } from '../inbox/retention.ts'
import { forgetFormer } from '../leads/merge/merges.ts'
import { forgetBulkChanges, forgetImports } from '../leads/retention.ts'
import { forgetNotices } from '../notices/retention.ts'
import { eraseDeliveries } from '../webhooks/erase.ts'
import { defaultAuditDays } from '../workspace/workspace.ts'
import type { Runtime } from './runtime.ts'
import { agingTables } from './tables.ts'

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
    await forgetNotices(db, now),
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
  return eraseQuietConversations(db, clock.now(), eraseDeliveries)
}
