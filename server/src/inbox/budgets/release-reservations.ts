import type { Tx } from '../../base/db.ts'
import { appliesTo, type Budget, oneMessage, parseAmount, type Spender } from './budget.ts'
import { lockCount, readBudgets, storeCounters } from './budget-queries.ts'

interface Released extends Spender {
  isFree: boolean
  price: string | null
  reservedAt: Date
}

/**
 * Gives back what these parts of a message had reserved, because they have failed. Call it in the transaction that
 * settles the send, with the conversation's lock. A repeat gives nothing back. If the platform has delivered such a part
 * after all, its charge counts by the ledger.
 */
export async function releaseReservations(
  tx: Tx,
  workspaceId: string,
  messageId: string,
  parts: readonly number[],
): Promise<void> {
  const [, released, budgets] = await Promise.all([
    lockCount(tx, workspaceId),
    tx<Released[]>`
      delete from budget_reservations
      where workspace_id = ${workspaceId}
        and message_id = ${messageId}
        and part = any (${[...parts]}::integer[])
      returning connection_id as "connectionId", key_id as "keyId", is_free as "isFree", price::text as price,
        reserved_at as "reservedAt"`,
    readBudgets(tx, workspaceId),
  ])
  const changed = budgets.flatMap((budget) => {
    const reserved = released.reduce((left, one) => left - amountIn(budget, one), budget.reserved)
    return reserved === budget.reserved ? [] : { ...budget, reserved: reserved > 0n ? reserved : 0n }
  })
  if (changed.length > 0) await storeCounters(tx, workspaceId, changed)
}

/** Returns how much of the budget's counter a reservation is; nothing if it was made in an earlier period. */
function amountIn(budget: Budget, one: Released): bigint {
  if (one.isFree || one.reservedAt < budget.from || !appliesTo(budget, one)) return 0n
  return budget.unit === 'messages' ? oneMessage : parseAmount(one.price ?? '0')
}
