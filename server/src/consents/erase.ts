import type { Tx } from '../base/db.ts'
import { createStep, type ErasureScope, type ErasureStep } from '../base/erasure.ts'
import { byteaArray } from '../base/postgres/values.ts'
import { digestsOf } from './store.ts'

/** Erases the customer's decisions. Few: the history of a customer is bounded. */
export async function eraseConsents(
  tx: Tx,
  { workspaceId, keyring, customer, createdBefore }: ErasureScope,
): Promise<ErasureStep> {
  const { phones, users } = digestsOf(keyring, [
    ...customer.phones.map((phone) => ({ phone, userId: null })),
    ...customer.userIds.map((userId) => ({ phone: null, userId })),
  ])
  const erased = await tx`
    delete from consents
    where workspace_id = ${workspaceId}
      and (phone_index = any (${byteaArray(phones)}::bytea[]) or user_index = any (${byteaArray(users)}::bytea[]))
      and decided_at <= ${createdBefore}`
  return createStep({ consents: erased.count }, false)
}
