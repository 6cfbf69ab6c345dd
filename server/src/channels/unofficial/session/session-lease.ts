import { andOnlyWorkspace, type OnlyWorkspace } from '../../../base/citus/distributed-sql.ts'
import type { Fragment, Sql, Tx } from '../../../base/db.ts'
import { isHolderDead, ownSession } from '../../../base/lease-session.ts'
import { type SessionKey, type SessionRow, sessionColumns } from './session.ts'

/** Duration of a lease, by the database's clock. */
export const leaseMs = 12_000
/** A holder that cannot renew closes its socket this long before the lease expires. */
export const leaseMarginMs = 2_000

/** Identifies a claim: each later claim of the session has a higher fence. */
export interface Lease extends SessionKey {
  fence: number
}

/** The session was claimed by another process or deleted; this process's state of it is out of date. */
export class LeaseLostError extends Error {}

export type ClaimedSession = SessionRow & Pick<Lease, 'fence'>

const leaseFor = `${leaseMs} milliseconds`

/** Claims free sessions, of one workspace or of any, longest waiting first. */
export async function claimSessions(tx: Tx, limit: number, only: OnlyWorkspace): Promise<ClaimedSession[]> {
  return tx<ClaimedSession[]>`
    with moment as (
      select clock_timestamp() as now
    ), free as (
      select s.workspace_id, s.connection_id
      from channel_sessions s
      where ${isFree(tx, tx`(select now from moment)`)}
        ${andOnlyWorkspace(tx, only, 's')}
      order by lease_until nulls first
      limit ${limit}
      -- Does not conflict with the key-share lock of a transaction that only enqueues a send.
      for no key update skip locked
    ), claim as (
      select *, gen_random_uuid() as holder, clock_timestamp() + ${leaseFor}::interval as lease_until
      from free
    )
    update channel_sessions s
    set holder = claim.holder,
      fence = s.fence + 1,
      lease_until = claim.lease_until,
      lease_session = ${ownSession(tx)}
    from claim
    where s.workspace_id = claim.workspace_id
      and s.connection_id = claim.connection_id
      ${andOnlyWorkspace(tx, only, 's')}
    returning ${sessionColumns(tx)}, s.fence`
}

/** Returns one workspace id per free session, longest waiting first. Locks nothing: the claim checks again. */
export async function listClaimable(sql: Sql, limit: number): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select workspace_id as id
    from channel_sessions
    where ${isFree(sql, sql`clock_timestamp()`)}
    order by lease_until nulls first
    limit ${limit}`
  return rows.map(({ id }) => id)
}

const isFree = (sql: Sql, moment: Fragment) => sql`
  (wish is not null or state in ('pairing', 'connecting', 'open', 'waiting'))
    and (holder is null or lease_until < ${moment})`

export type RenewedLease = Pick<SessionRow, 'connectionId' | 'wish'>

/**
 * Renews leases and returns the pending command of each. A session missing from the result belongs to another process.
 * For all sessions, or those of one workspace.
 */
export async function renewLeases(tx: Tx, leases: readonly Lease[], only: OnlyWorkspace): Promise<RenewedLease[]> {
  // On Citus, a query that locks rows and joins a list reads the list in another format than Citus wrote it in.
  const areThese =
    only === null
      ? tx`
      join ${leaseList(tx, leases)} using (workspace_id, connection_id, fence)
      where true`
      : tx`
      where s.workspace_id = ${only}
        and s.connection_id = any (${leases.map((lease) => lease.connectionId)}::uuid[])`
  return tx<RenewedLease[]>`
    with held as (
      -- Locks in one order, as all statements that lock several do.
      select s.workspace_id, s.connection_id, s.fence
      from channel_sessions s
      ${areThese}
        and s.holder is not null
      order by s.workspace_id, s.connection_id
      for no key update of s
    ), lease as (
      select held.workspace_id, held.connection_id, clock_timestamp() + ${leaseFor}::interval as lease_until
      from held
      join ${leaseList(tx, leases)} using (workspace_id, connection_id, fence)
    )
    update channel_sessions s
    set lease_until = lease.lease_until
    from lease
    where s.workspace_id = lease.workspace_id
      and s.connection_id = lease.connection_id
      ${andOnlyWorkspace(tx, only, 's')}
    returning s.connection_id as "connectionId", s.wish`
}

/** Returns the leases as an SQL list to join, named `l`. */
export const leaseList = (sql: Sql, leases: readonly Lease[]) => sql`
  unnest(
    ${leases.map((lease) => lease.workspaceId)}::uuid[],
    ${leases.map((lease) => lease.connectionId)}::uuid[],
    ${leases.map((lease) => lease.fence)}::bigint[]
  ) as l (workspace_id, connection_id, fence)`

/** Releases a session; does nothing if it is gone or belongs to another process. */
export async function releaseSession(tx: Tx, { workspaceId, connectionId, fence }: Lease): Promise<void> {
  await tx`
    update channel_sessions
    set holder = null,
      lease_until = statement_timestamp()
    where workspace_id = ${workspaceId}
      and connection_id = ${connectionId}
      and fence = ${fence}`
}

/** Returns whether the session is still ours, including an expired lease that no one has claimed. */
export async function isLeaseOurs(sql: Sql, { workspaceId, connectionId, fence }: Lease): Promise<boolean> {
  const [row] = await sql`
    select fence
    from channel_sessions
    where workspace_id = ${workspaceId}
      and connection_id = ${connectionId}
      and fence = ${fence}
      and holder is not null`
  return row !== undefined
}

/** Shorter than the lease: a process that stalls within a transaction must not keep the session locked beyond it. */
const stalledFor = `${leaseMs - 4_000}ms`

/** SQL to select in a query that locks a session: the database then ends the transaction if it stalls. */
export const endWhenStalled = (sql: Sql): Fragment =>
  sql`set_config('idle_in_transaction_session_timeout', ${stalledFor}, true)`

/** Locks the session, shared, until the transaction ends. Throws LeaseLostError if it is no longer ours. */
export async function requireLease(tx: Tx, { workspaceId, connectionId, fence }: Lease): Promise<void> {
  const [row] = await tx`
    select fence, ${endWhenStalled(tx)}
    from channel_sessions
    where workspace_id = ${workspaceId}
      and connection_id = ${connectionId}
      and fence = ${fence}
      and holder is not null
    for share`.execute()
  if (row === undefined) throw new LeaseLostError()
}

export interface LeaseOverview {
  /** Milliseconds until the first session can be claimed; null if there is none. */
  freeInMs: number | null
  isHeldByOthers: boolean
}

/** Returns the state of the sessions that this process does not hold. */
export async function readLeaseOverview(sql: Sql): Promise<LeaseOverview> {
  const [row] = await sql<LeaseOverview[]>`
    select
      min(case when holder is null then 0 else extract(epoch from lease_until - clock_timestamp()) * 1000 end)::float8
        as "freeInMs",
      coalesce(bool_or(holder is not null and lease_until > clock_timestamp()), false) as "isHeldByOthers"
    from channel_sessions
    where (wish is not null or state in ('pairing', 'connecting', 'open', 'waiting'))
      and (holder is null or lease_session <> ${ownSession(sql)})`
  return row ?? { freeInMs: null, isHeldByOthers: false }
}

/** Returns the processes that hold a lease but no longer have a database session. */
export async function listDeadHolders(sql: Sql): Promise<string[]> {
  // Materialized, because database sessions must be listed on the node to which the processes connect, not on the nodes
  // that store the rows.
  const rows = await sql<{ lease_session: string }[]>`
    with leases as materialized (
      select distinct lease_session
      from channel_sessions
      where holder is not null
        and (wish is not null or state in ('pairing', 'connecting', 'open', 'waiting'))
        and lease_until > clock_timestamp()
    )
    select lease_session
    from leases
    where ${isHolderDead(sql)}`
  return rows.map((row) => row.lease_session)
}

/** Ends the leases of these processes. */
export async function endLeasesOf(tx: Tx, holders: readonly string[]): Promise<void> {
  if (holders.length === 0) return
  await tx`
    update channel_sessions
    set lease_until = statement_timestamp() - interval '1 millisecond'
    where lease_session = any (${[...holders]}::text[])
      and holder is not null
      and (wish is not null or state in ('pairing', 'connecting', 'open', 'waiting'))
      and lease_until > statement_timestamp()`
}
