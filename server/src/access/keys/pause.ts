import type { Db } from '../../base/db.ts'
import { recordAudit } from '../../team/audit.ts'

/** Why a key was told to pause: it called in vain again and again, or sent the same words to many. */
export type PausedWhy = 'same_call' | 'same_text'

/** Lets people see that a key was told to pause, for which it did not ask. */
export async function storePause(db: Db, workspaceId: string, keyId: string, why: PausedWhy, now: Date): Promise<void> {
  await db.tx(async (tx) => {
    await tx`
      update api_keys
      set paused_at = ${now},
        paused_why = ${why}
      where workspace_id = ${workspaceId}
        and id = ${keyId}`
    const actor = { type: 'system', id: null } as const
    await recordAudit(tx, { scopeId: workspaceId, actor, action: 'api-key.paused', target: `api-key:${keyId}` }, now)
  })
}
