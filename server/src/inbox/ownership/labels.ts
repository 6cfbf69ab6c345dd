import type { Tx } from '../../base/db.ts'
import { tellTeamOfMany } from '../conversation/team-news.ts'

/** Takes a label that is being deleted off every conversation. */
export async function dropLabel(tx: Tx, workspaceId: string, labelId: string, now: Date): Promise<void> {
  tellTeamOfMany(tx, workspaceId)
  await tx`
    update conversations
    set label_ids = array_remove(label_ids, ${labelId}::uuid),
      updated_at = greatest(updated_at, ${now})
    where workspace_id = ${workspaceId}
      and label_ids <> '{}'
      and label_ids @> array[${labelId}::uuid]`
}
