import { andOnlyWorkspace, type OnlyWorkspace } from '../../base/citus/distributed-sql.ts'
import type { Fragment, Sql, Tx } from '../../base/db.ts'
import { isHolderDead, ownSession } from '../../base/lease-session.ts'
import { type EndpointKey, type EndpointRow, endpointColumns } from './endpoint.ts'
import type { Health } from './retry-policy.ts'

/** Published when work is due at an endpoint or an endpoint has changed; the id is the workspace. */
export const dueTopic = 'webhooks_due'

/** Duration of a lease, by the database's clock. */
export const leaseMs = 15_000

/** A claimed queue, as of the claim. */
export interface ClaimedQueue extends EndpointRow, Omit<Health, 'pausedUntil'> {
  /** Unique per claim. */
  owner: string
  /** Session name of this process. */
  session: string
  cursor: number
  /** Events up to here are removed. */
  removedTo: number
  generation: number
  retryAt: Date | null
  hasReplay: boolean
}

/** State of a queue after a renewal of its lease. */
export interface RenewedQueue
  extends EndpointRow,
    Pick<ClaimedQueue, 'owner' | 'generation' | 'retryAt' | 'hasReplay'> {
  removedAt: Date | null
}

const leaseFor = `${leaseMs} milliseconds`
/** Time that a queue is reserved for the worker that has requested it. */
const reservedFor = '2 seconds'

/**
 * Queues to claim: of these workspaces, all, or (`due`) those that became ready by time alone: a retry, the end of a
 * pause or of a lease.
 */
export type ClaimScope = readonly string[] | 'all' | 'due'

/** Claims queues with deliveries to send, longest waiting first; `only` restricts to one workspace. */
export async function claimQueues(
  tx: Tx,
  scope: ClaimScope,
  limit: number,
  now: Date,
  only: OnlyWorkspace = null,
): Promise<ClaimedQueue[]> {
  return tx<ClaimedQueue[]>`
    with moment as (
      select clock_timestamp() as now
    ), free as (
      select q.workspace_id, q.endpoint_id, f.removed_to
      from ${queuesWithFeed(tx)}
      where ${inScope(tx, scope, now)}
        and ${isFree(tx, now, tx`(select now from moment)`)}
        and (q.cursor < f.last_position or q.retry_at <= ${now} or ${hasReplay(tx, only)})
        ${andOnlyWorkspace(tx, only, 'q')}
      order by q.lease_until nulls first
      limit ${limit}
      for update of q skip locked
    ), claim as (
      select *, gen_random_uuid() as owner, clock_timestamp() + ${leaseFor}::interval as lease_until
      from free
    )
    update webhook_queues q
    set lease_owner = claim.owner,
      lease_until = claim.lease_until,
      lease_session = ${ownSession(tx)}
    from claim, webhook_endpoints e
    where q.workspace_id = claim.workspace_id
      and q.endpoint_id = claim.endpoint_id
      and e.workspace_id = q.workspace_id
      and e.id = q.endpoint_id
      ${andOnlyWorkspace(tx, only, 'q', 'e')}
    returning ${endpointColumns(tx)},
      q.lease_owner as owner, q.lease_session as session, q.cursor, coalesce(claim.removed_to, 0) as "removedTo",
      q.generation, q.retry_at as "retryAt", q.failing_since as "failingSince", q.failures_in_a_row as "failuresInARow",
      q.last_success_at as "lastSuccessAt", ${hasReplay(tx, only)} as "hasReplay"`
}

/**
 * Lists the workspaces of claimable queues, one entry per queue, longest waiting first. Locks nothing: the claim checks
 * again what is free.
 */
export async function listClaimable(sql: Sql, scope: ClaimScope, limit: number, now: Date): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select q.workspace_id as id
    from ${queuesWithFeed(sql)}
    left join (
      select workspace_id, endpoint_id
      from webhook_replays
      where finished_at is null
      group by workspace_id, endpoint_id
    ) as r
      on r.workspace_id = q.workspace_id
      and r.endpoint_id = q.endpoint_id
    where ${inScope(sql, scope, now)}
      and ${isFree(sql, now, sql`clock_timestamp()`)}
      and (q.cursor < f.last_position or q.retry_at <= ${now} or r.endpoint_id is not null)
    order by q.lease_until nulls first
    limit ${limit}`
  return rows.map(({ id }) => id)
}

const queuesWithFeed = (sql: Sql) => sql`
  webhook_queues q
  join webhook_endpoints e
    on e.workspace_id = q.workspace_id
    and e.id = q.endpoint_id
  left join event_feeds f on f.workspace_id = q.workspace_id`

const isFree = (sql: Sql, now: Date, moment: Fragment) => sql`
  e.state = 'active'
    and e.removed_at is null
    and (
      q.lease_until < ${moment}
      or (q.lease_owner is null and coalesce(q.lease_session, ${ownSession(sql)}) = ${ownSession(sql)})
    )
    and (q.paused_until is null or q.paused_until <= ${now})`

function inScope(sql: Sql, scope: ClaimScope, now: Date) {
  if (scope === 'all') return sql`true`
  if (scope === 'due') return sql`(q.retry_at <= ${now} or q.paused_until <= ${now} or q.lease_session is not null)`
  return sql`q.workspace_id = any (${[...scope]}::uuid[])`
}

/**
 * Renews leases, and returns the current state of their endpoints. Leases that are missing in the result belong to
 * another worker. Renews all at once, or those of one workspace.
 */
export async function renewLeases(tx: Tx, owners: readonly string[], only: OnlyWorkspace): Promise<RenewedQueue[]> {
  return tx<RenewedQueue[]>`
    with held as (
      -- Locks in a fixed order, like all code that locks several queues.
      select q.workspace_id, q.endpoint_id
      from webhook_queues q
      where q.lease_owner = any (${owners}::uuid[])
        ${andOnlyWorkspace(tx, only, 'q')}
      order by q.workspace_id, q.endpoint_id
      for update
    ), lease as (
      select *, clock_timestamp() + ${leaseFor}::interval as lease_until
      from held
    )
    update webhook_queues q
    set lease_until = lease.lease_until
    from lease, webhook_endpoints e
    where q.workspace_id = lease.workspace_id
      and q.endpoint_id = lease.endpoint_id
      and e.workspace_id = q.workspace_id
      and e.id = q.endpoint_id
      ${andOnlyWorkspace(tx, only, 'q', 'e')}
    returning ${endpointColumns(tx)},
      q.lease_owner as owner, q.generation, q.retry_at as "retryAt", e.removed_at as "removedAt",
      ${hasReplay(tx, only)} as "hasReplay"`
}

/** Returns the session names of dead workers that hold leases. */
export async function listDeadWorkers(sql: Sql): Promise<string[]> {
  // Sessions are checked on the node that processes connect to, not on the nodes that hold the rows.
  const dead = await sql<{ lease_session: string }[]>`
    with leases as materialized (
      select distinct lease_session
      from webhook_queues
      where lease_until > clock_timestamp()
    )
    select lease_session
    from leases
    where ${isHolderDead(sql)}`
  return dead.map((row) => row.lease_session)
}

/** Ends the leases of these workers; returns how many. */
export async function endLeases(tx: Tx, workers: readonly string[]): Promise<number> {
  const ended = await tx`
    update webhook_queues
    set lease_until = statement_timestamp() - interval '1 millisecond'
    where lease_until > statement_timestamp()
      and lease_session = any (${[...workers]}::text[])`
  return ended.count
}

export interface Lease {
  workspaceId: string
  endpointId: string
  owner: string
}

/** Releases a queue whose events up to `cursor` are done. `successor`: session name of the next worker; null: any. */
export async function releaseQueue(
  tx: Tx,
  lease: Lease,
  { generation, cursor, successor }: { generation: number; cursor: number; successor: string | null },
): Promise<void> {
  await tx`
    update webhook_queues
    set lease_owner = null,
      lease_until = statement_timestamp() + ${successor === null ? '0 seconds' : reservedFor}::interval,
      lease_session = ${successor},
      cursor = case when generation = ${generation} then greatest(cursor, ${cursor}) else cursor end
    where workspace_id = ${lease.workspaceId}
      and endpoint_id = ${lease.endpointId}
      and lease_owner = ${lease.owner}`
}

/** Another worker has claimed the queue, so in-memory state is outdated. */
export class LeaseLostError extends Error {}

/**
 * Locks a queue whose lease is still ours, and returns its generation. Must be the first statement of each transaction
 * that changes its deliveries, so that it sees resends and replays of members. Accepts an expired lease that nobody has
 * claimed.
 */
export async function lockQueue(tx: Tx, lease: Lease): Promise<number> {
  const [queue] = await tx<{ generation: number }[]>`
    select generation
    from webhook_queues
    where workspace_id = ${lease.workspaceId}
      and endpoint_id = ${lease.endpointId}
      and lease_owner = ${lease.owner}
    for update`.execute()
  if (queue === undefined) throw new LeaseLostError()
  return queue.generation
}

export interface WorkerLoad {
  session: string
  queues: number
}

/** Returns how many queues each worker holds; this worker is first, even with none. */
export async function listWorkerLoads(sql: Sql): Promise<WorkerLoad[]> {
  return sql<WorkerLoad[]>`
    with own as (
      select ${ownSession(sql)} as session
    ), leases as materialized (
      select lease_session as session, count(*) as queues
      from webhook_queues
      where lease_owner is not null
        and lease_until > clock_timestamp()
      group by lease_session
    )
    select session, coalesce(l.queues, 0) as queues
    from own
    full join leases l using (session)
    left join own o using (session)
    order by o.session is null`
}

/** Creates the queue of a new endpoint; it delivers events after this feed position. */
export async function insertQueue(tx: Tx, { workspaceId, id }: EndpointKey, position: number): Promise<void> {
  await tx`
    insert into webhook_queues (workspace_id, endpoint_id, cursor)
    values (${workspaceId}, ${id}, ${position})`
}

/** Restarts a queue at this position. A worker that still holds it has the old position, so it loses the lease. */
export async function restartQueue(tx: Tx, { workspaceId, id }: EndpointKey, position: number): Promise<void> {
  await tx`
    update webhook_queues
    set cursor = greatest(cursor, ${position}::bigint),
      retry_at = null,
      paused_until = null,
      failing_since = null,
      failures_in_a_row = 0,
      lease_owner = null,
      lease_until = null,
      lease_session = null
    where workspace_id = ${workspaceId}
      and endpoint_id = ${id}`
}

/** Cancels all pending deliveries by a new generation, because updating each row could take too long. */
export async function cancelQueue(tx: Tx, { workspaceId, id }: EndpointKey): Promise<void> {
  await tx`
    update webhook_queues
    set generation = generation + 1,
      retry_at = null,
      paused_until = null
    where workspace_id = ${workspaceId}
      and endpoint_id = ${id}`
}

/**
 * Makes a queue due now, and returns its generation. The row stays locked for the transaction, as it does while a
 * worker saves results, so that neither sees half of the other's changes.
 */
export async function makeQueueDue(tx: Tx, { workspaceId, id }: EndpointKey, now: Date): Promise<number> {
  const [queue] = await tx<{ generation: number }[]>`
    update webhook_queues
    set retry_at = least(retry_at, ${now}::timestamptz)
    where workspace_id = ${workspaceId}
      and endpoint_id = ${id}
    returning generation`
  if (queue === undefined) throw new Error(`Endpoint ${id} has no queue`)
  return queue.generation
}

/** Saves the state of a queue; does nothing if it was disabled meanwhile, because it then restarts. */
export async function saveQueue(
  tx: Tx,
  { workspaceId, endpointId }: Lease,
  generation: number,
  cursor: number,
  health: Health,
): Promise<void> {
  await tx`
    update webhook_queues
    set cursor = greatest(cursor, ${cursor}),
      failing_since = ${health.failingSince},
      failures_in_a_row = ${health.failuresInARow},
      last_success_at = ${health.lastSuccessAt},
      paused_until = ${health.pausedUntil}
    where workspace_id = ${workspaceId}
      and endpoint_id = ${endpointId}
      and generation = ${generation}`.execute()
}

/** Updates when the queue is due next, and returns that time for deliveries not in memory. The queue must be locked. */
export async function updateNextDue(
  tx: Tx,
  lease: Lease,
  generation: number,
  held: readonly number[],
): Promise<Date | null> {
  const [next] = await tx<{ due: Date | null }[]>`
    with pending as (
      select due_at, position
      from webhook_deliveries
      where workspace_id = ${lease.workspaceId}
        and endpoint_id = ${lease.endpointId}
        and generation = ${generation}
        and state = 'pending'
      order by due_at
      limit ${held.length + 1}
    ), noted as (
      update webhook_queues
      set retry_at = (select min(due_at) from pending)
      where workspace_id = ${lease.workspaceId}
        and endpoint_id = ${lease.endpointId}
    )
    select min(due_at) as due
    from pending
    where position <> all (${held}::bigint[])`
  return next?.due ?? null
}

/** SQL condition: queue `q` has an open replay. */
export function hasReplay(sql: Sql, only: OnlyWorkspace) {
  return sql`
    exists (
      select 1
      from webhook_replays r
      where r.workspace_id = q.workspace_id
        and r.endpoint_id = q.endpoint_id
        and r.finished_at is null
        ${andOnlyWorkspace(sql, only, 'r')}
    )`
}
