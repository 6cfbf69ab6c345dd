import { claimFirst, maxCandidates } from '../base/citus/distributed-sql.ts'
import type { Clock } from '../base/clock.ts'
import type { Db, Tx } from '../base/db.ts'
import type { Keyring } from '../base/encryption/keyring.ts'
import { addRemoved, type ErasedCustomer, type ErasureScope } from '../base/erasure.ts'
import { type DueWatch, watchDueWork } from '../base/pubsub.ts'
import { recordAudit } from '../team/audit.ts'
import type { ErasureDeps, ErasureRow } from './erasure.ts'
import { decryptSubject, encryptSubject, findCustomer, findErasure } from './erasure.ts'

/** Time without a step after which another process takes over. */
export const leaseMs = 30_000
const shiftMs = 10_000
/** Shorter than the lease with which an erasure starts, so that no notification is needed. */
const pollEveryMs = 15_000

/** Watches for erasures whose lease has expired. */
export function watchErasures({ db, clock }: { db: Db; clock: Clock }): DueWatch {
  const nextAt = async () => {
    const [row] = await db.sql<{ at: Date | null }[]>`
      select min(due_at) as at
      from erasures
      where state = 'running'`
    return row?.at ?? null
  }
  return watchDueWork({ db, clock }, { nextAt, pollEveryMs })
}

/** Runs an erasure for at most this long. Returns its state afterwards. */
export async function runErasure(
  deps: ErasureDeps,
  workspaceId: string,
  id: string,
  forMs: number,
): Promise<ErasureRow | undefined> {
  const endsAt = performance.now() + forMs
  while (performance.now() < endsAt) {
    if (!(await deps.step('commit', () => runNextStep(deps, workspaceId, id)))) break
  }
  return findErasure(deps.db.sql, workspaceId, id)
}

/** Runs unleased erasures for a limited time. Any number of workers may run it. Returns how many it ran. */
export async function finishErasures(deps: ErasureDeps): Promise<number> {
  const endsAt = performance.now() + shiftMs
  for (let count = 0; ; count++) {
    const leftMs = endsAt - performance.now()
    if (leftMs <= 0) return count
    const claimed = await claimErasure(deps.db, deps.clock.now())
    if (claimed === undefined) return count
    await runErasure(deps, claimed.workspace_id, claimed.id, leftMs)
    await deps.db.tx((tx) => releaseErasure(tx, claimed, deps.clock.now()))
  }
}

const leaseEnd = (now: Date): Date => new Date(now.getTime() + leaseMs)

type ErasureRef = Pick<ErasureRow, 'workspace_id' | 'id'>

async function claimErasure(db: Db, now: Date): Promise<ErasureRef | undefined> {
  const due = await db.sql<{ workspaceId: string }[]>`
    select workspace_id as "workspaceId"
    from erasures
    where state = 'running'
      and due_at <= ${now}
    order by due_at
    limit ${maxCandidates}`
  return claimFirst(due, (workspaceId) => db.statement((tx) => claimIn(tx, workspaceId, now)))
}

async function claimIn(tx: Tx, workspaceId: string, now: Date): Promise<ErasureRef | undefined> {
  const [row] = await tx<ErasureRef[]>`
    with due as (
      select id
      from erasures
      where workspace_id = ${workspaceId}
        and state = 'running'
        and due_at <= ${now}
      order by due_at
      limit 1
      for update skip locked
    )
    update erasures e
    set due_at = ${leaseEnd(now)}
    from due
    where e.workspace_id = ${workspaceId}
      and e.id = due.id
    returning e.workspace_id, e.id`
  return row
}

// Released at the end of the time slice, so that other erasures run first.
async function releaseErasure(tx: Tx, { workspace_id, id }: ErasureRef, now: Date): Promise<void> {
  await tx`
    update erasures
    set due_at = ${now}
    where workspace_id = ${workspace_id}
      and id = ${id}
      and state = 'running'`
}

/**
 * Runs one bounded step in its own transaction, together with its progress and counts: a process that dies loses only
 * that step. Returns false if nothing is left to do.
 */
function runNextStep(deps: ErasureDeps, workspaceId: string, id: string): Promise<boolean> {
  const { keyStore, db } = deps
  return keyStore.withKeyring(workspaceId, (keyring) =>
    db.tx(async (tx) => {
      const [row] = await tx<ErasureRow[]>`
        select *
        from erasures
        where workspace_id = ${workspaceId}
          and id = ${id}
        for update`
      if (row === undefined || row.subject === null) return false
      const customer = decryptSubject(keyring, id, row.subject)
      await deps.step('write', () => runPart(deps, { tx, keyring, row, customer, now: deps.clock.now() }))
      return true
    }),
  )
}

interface Step {
  tx: Tx
  keyring: Keyring
  row: ErasureRow
  customer: ErasedCustomer
  now: Date
}

async function runPart({ parts }: ErasureDeps, step: Step): Promise<void> {
  const { tx, keyring, row, customer, now } = step
  const part = parts[row.part]
  if (part === undefined) return finish(step)
  const scope: ErasureScope = { workspaceId: row.workspace_id, keyring, customer, createdBefore: row.created_at, now }
  const { removed, position, foundLeadIds } = await part(tx, scope, row.place)
  if (foundLeadIds !== undefined) {
    const named = { ...customer, leadIds: [...customer.leadIds, ...foundLeadIds] }
    const { customer: wider } = await findCustomer(searchOf(step), named)
    return restartErasure(step, wider)
  }
  await tx`
    update erasures
    set removed = ${JSON.stringify(addRemoved(row.removed, removed))}::text::jsonb,
      part = ${position === null ? row.part + 1 : row.part},
      place = ${position},
      due_at = ${leaseEnd(now)}
    where workspace_id = ${row.workspace_id}
      and id = ${row.id}`
}

const searchOf = ({ tx, keyring, row }: Step) => {
  return { sql: tx, keyring, workspaceId: row.workspace_id, before: row.created_at }
}

async function restartErasure({ tx, keyring, row }: Step, customer: ErasedCustomer): Promise<void> {
  await tx`
    update erasures
    set subject = ${encryptSubject(keyring, row.id, customer)},
      part = 0,
      place = null
    where workspace_id = ${row.workspace_id}
      and id = ${row.id}`
}

/** Searches again: changes that started before the erasure may have committed, merged or restored data since. */
async function finish(step: Step): Promise<void> {
  const { tx, row, customer, now } = step
  const { workspace_id: workspaceId, id } = row
  const left = await findCustomer(searchOf(step), customer)
  if (left.leads + left.conversations > 0) return restartErasure(step, left.customer)
  await tx`
    update erasures
    set state = 'done',
      subject = null,
      place = null,
      finished_at = ${now}
    where workspace_id = ${workspaceId}
      and id = ${id}`
  const actor = { type: 'system', id: null } as const
  await recordAudit(tx, { scopeId: workspaceId, actor, action: 'customer.erased', target: `erasure:${id}` }, now)
}
