import type { Fragment, Tx } from '../../base/db.ts'
import type { ConnectionKey } from './connection.ts'

/** Sets columns of a connection. Returns false if it was removed, or does not meet the condition. */
export async function updateColumns(
  tx: Tx,
  { workspaceId, id }: ConnectionKey,
  columns: Fragment,
  condition: Fragment = tx`true`,
): Promise<boolean> {
  const { count } = await tx`
    update connections
    set ${columns}
    where workspace_id = ${workspaceId}
      and id = ${id}
      and removed_at is null
      and ${condition}`
  return count > 0
}
