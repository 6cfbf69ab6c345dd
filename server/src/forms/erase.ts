import type { Tx } from '../base/db.ts'
import { type ErasureScope, type ErasureStep, goOn } from '../base/erasure.ts'

/** Erases what the customer has sent by forms: which form, and when. What was filled in is the lead's. */
export async function eraseSubmissions(tx: Tx, { workspaceId, customer }: ErasureScope): Promise<ErasureStep> {
  const erased = await tx`
    delete from form_submissions
    where workspace_id = ${workspaceId}
      and lead_id = any (${customer.leadIds}::uuid[])`
  return goOn({ submissions: erased.count }, false)
}
