import { isDeepStrictEqual } from 'node:util'
import type { Tx } from '../../base/db.ts'
import type { Log } from '../../base/log.ts'
import { publishConnection } from '../../team/live-updates.ts'
import { adapterOf } from '../adapter.ts'
import type { ConnectionKey, StoredConnection } from '../connection/connection.ts'
import type { RegistrationDeps } from '../connection/registration.ts'
import { updateColumns } from '../connection/update-columns.ts'
import { notifyMembers } from './availability.ts'
import { findWorsened, mergeFacts, type NumberFacts, type NumberStatus } from './number-status.ts'

const refreshEveryMs = 24 * 3_600_000
const retryAfterMs = 3_600_000

/** Reads the status of a number from the platform: once a day, and after the platform announced a change. */
export async function refreshNumberStatus(deps: RegistrationDeps & { log: Log }, one: StoredConnection): Promise<void> {
  const { db, clock, log } = deps
  const adapter = adapterOf(deps.adapters, one)
  if (adapter.fetchNumberFacts === undefined) return
  if (one.numberStatusDueAt !== null && one.numberStatusDueAt > clock.now()) return
  const fetched = await adapter.fetchNumberFacts(one)
  const now = clock.now()
  if (!fetched.ok) {
    const { workspaceId, id: connectionId } = one
    log.warn('failed to read the status of a number; retrying', { workspaceId, connectionId, code: fetched.errorCode })
  }
  await db.tx(async (tx) => {
    // A report about the number that the connection had before would be wrong.
    if (fetched.ok && (await isSameNumber(tx, one))) await storeNumberFacts(tx, one, fetched.facts, now)
    await setDue(tx, one, new Date(now.getTime() + (fetched.ok ? refreshEveryMs : retryAfterMs)))
  })
}

async function isSameNumber(tx: Tx, { workspaceId, id, numberId }: StoredConnection): Promise<boolean> {
  const { count } = await tx`
    select
    from connections
    where workspace_id = ${workspaceId}
      and id = ${id}
      and number_id = ${numberId}
    for no key update`
  return count > 0
}

/** Stores facts about a number, keeps the others, and notifies all members of what became worse. */
export async function storeNumberFacts(
  tx: Tx,
  one: ConnectionKey,
  facts: Partial<NumberFacts>,
  now: Date,
): Promise<void> {
  const { workspaceId, id } = one
  const [row] = await tx<{ status: NumberStatus | null }[]>`
    select number_status as status
    from connections
    where workspace_id = ${workspaceId}
      and id = ${id}
      and removed_at is null
    for no key update`
  if (row === undefined) return
  const after = mergeFacts(row.status, facts, now)
  await updateColumns(tx, one, tx`number_status = ${tx.json(after)}`)
  const { checkedAt: _, ...newFacts } = after
  const { checkedAt: __, ...oldFacts } = row.status ?? mergeFacts(null, {}, now)
  if (!isDeepStrictEqual(newFacts, oldFacts)) publishConnection(tx, workspaceId, id)
  await notifyMembers(tx, one, findWorsened(row.status, after, now), now)
}

// A change that was announced during the read keeps its own time.
function setDue(tx: Tx, one: StoredConnection, dueAt: Date): Promise<boolean> {
  const isUnchanged = tx`
      number_id = ${one.numberId}
      and number_status_due_at is not distinct from ${one.numberStatusDueAt}::timestamptz`
  return updateColumns(tx, one, tx`number_status_due_at = ${dueAt}`, isUnchanged)
}

/** Has the status of a number read again at the next sync of its templates. */
export const setNumberStatusDue = (tx: Tx, one: ConnectionKey, now: Date): Promise<boolean> =>
  updateColumns(tx, one, tx`number_status_due_at = ${now}`)
