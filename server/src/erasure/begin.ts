import type { Removed } from '../base/erasure.ts'
import { newId } from '../base/id.ts'
import { countEvents } from '../events/erase.ts'
import { countOfConversations } from '../inbox/erase.ts'
import { recordAudit } from '../team/audit.ts'
import type { Member } from '../team/member.ts'
import { type ErasureDeps, type ErasureRow, findErasure, sealSubject } from './erasure.ts'
import { type CustomerName, findNamed } from './name-customer.ts'
import { leaseMs } from './run.ts'

/** What would be erased of the customer, without the files of imports, which only an erasure looks through. */
export async function foreseeErasure(
  { db, vault, clock }: ErasureDeps,
  by: Member,
  name: CustomerName,
): Promise<Removed> {
  const { workspaceId } = by
  return vault.withKeyring(workspaceId, async (keyring) => {
    const { customer, leads } = await findNamed(db.sql, keyring, by, name, clock.now())
    const { leadIds, conversationIds, mergedIds } = customer
    const [ofConversations, events] = await Promise.all([
      countOfConversations(db.sql, workspaceId, conversationIds),
      countEvents(db.sql, workspaceId, [...leadIds, ...conversationIds, ...mergedIds]),
    ])
    return { leads, ...ofConversations, events }
  })
}

/**
 * Writes down that the customer is to be erased: from then on it happens, whatever becomes of this process. Throws 400, 404
 * and 422 for a name that is none.
 */
export async function beginErasure(
  { db, vault, clock }: ErasureDeps,
  by: Member,
  name: CustomerName,
): Promise<ErasureRow> {
  const { workspaceId, actor } = by
  return vault.withKeyring(workspaceId, (keyring) =>
    db.tx(async (tx) => {
      const now = clock.now()
      const { customer, namedBy } = await findNamed(tx, keyring, by, name, now)
      const id = newId(now)
      // Whoever began it is at it; a worker steps in when they are not.
      const dueAt = new Date(now.getTime() + leaseMs)
      await tx`
        insert into erasures (workspace_id, id, state, named_by, subject, actor_type, actor_id, due_at, created_at)
        values (
          ${workspaceId}, ${id}, 'running', ${namedBy}, ${sealSubject(keyring, id, customer)}, ${actor.type}, ${actor.id},
          ${dueAt}, ${now}
        )`
      const entry = { scopeId: workspaceId, actor, action: 'customer.erasure_began', target: `erasure:${id}` }
      await recordAudit(tx, entry, now)
      const row = await findErasure(tx, workspaceId, id)
      if (row === undefined) throw new Error('A row was expected')
      return row
    }),
  )
}
