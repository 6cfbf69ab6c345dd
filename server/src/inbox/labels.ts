import type { Tx } from '../base/db.ts'

/** Takes a label that is being deleted off every conversation. */
export async function dropLabel(tx: Tx, workspaceId: string, labelId: string, now: Date): Promise<void> {
  await tx`
    update conversations
    set label_ids = array_remove(label_ids, ${labelId}::uuid),
      updated_at = greatest(updated_at, ${now})
    where workspace_id = ${workspaceId}
      and ${labelId}::uuid = any (label_ids)`
}
