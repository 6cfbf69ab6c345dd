import type { Tx } from '../../base/db.ts'

export interface RowMove {
  from: string
  to: string
  /** All of them when null. */
  only: readonly string[] | null
}

/** Gives a lead's rows of a table to another lead, all or those that are named. Returns which. */
export async function moveRows(
  tx: Tx,
  table: string,
  workspaceId: string,
  { from, to, only }: RowMove,
): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    update ${tx(table)}
    set lead_id = ${to}
    where workspace_id = ${workspaceId}
      and lead_id = ${from}
      ${only === null ? tx`` : tx`and id = any (${[...only]}::uuid[])`}
    returning id`
  return rows.map(({ id }) => id)
}
