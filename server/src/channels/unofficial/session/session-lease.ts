import { andOnlyOf, type OneWorkspace } from '../../../base/citus/distributed-sql.ts'
import type { Fragment, Sql, Tx } from '../../../base/db.ts'
import { isHeldByDead, ownSession } from '../../../base/lease-session.ts'
import { type SessionKey, type SessionRow, sessionColumns } from './session.ts'

/** How long a session belongs to the process that has claimed it, by the database's clock. */
export const leaseMs = 12_000
/** A holder that could not renew closes its socket so long before its lease ends. */
export const safetyMs = 2_000

/** What identifies a claim: whoever claims the session next has a higher fence. */
export interface Lease extends SessionKey {
  fence: number
}

/** A session was claimed by another process, or is gone: whatever this one knows of it is old. */
export class LeaseLost extends Error {}

export type ClaimedSession = SessionRow & Pick<Lease, 'fence'>

const leaseFor = `${leaseMs} milliseconds`

/** Claims sessions that nobody holds, of one workspace or of any, those first that have waited longest. */
export async function claimSessions(tx: Tx, limit: number, only: OneWorkspace): Promise<ClaimedSession[]> {
  return tx<ClaimedSession[]>`
    with moment as (
      select clock_timestamp() as now
    ), free as (
      select s.workspace_id, s.connection_id
      from channel_sessions s
      where ${isFree(tx, tx`(select now from moment)`)}
        ${andOnlyOf(tx, only, 's')}
      order by lease_until nulls first
      limit ${limit}
      -- Whoever only asks for a send stands behind the row, and is not in the way.
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
      ${andOnlyOf(tx, only, 's')}
    returning ${sessionColumns(tx)}, s.fence`
}

/**
 * The workspaces of sessions that nobody holds, one for each, those first that have waited longest. It locks nothing: the
 * claim finds out what is still free.
 */
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

export type HeldSession = Pick<SessionRow, 'connectionId' | 'wish'>

/**
 * Holds on to sessions, and returns what is asked of each. Those that are missing belong to another. All of them at once, or
 * those of one workspace.
 */
export async function renewLeases(tx: Tx, leases: readonly Lease[], only: OneWorkspace): Promise<HeldSession[]> {
  // Citus reads what is locked together with a list in another format than it has written it in.
  const areThese =
    only === null
      ? tx`
      join ${leaseList(tx, leases)} using (workspace_id, connection_id, fence)
      where true`
      : tx`
      where s.workspace_id = ${only}
        and s.connection_id = any (${leases.map((lease) => lease.connectionId)}::uuid[])`
  return tx<HeldSession[]>`
    with held as (
      -- In one order, as all who lock several.
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
      ${andOnlyOf(tx, only, 's')}
    returning s.connection_id as "connectionId", s.wish`
}

/** As a list to join, named `l`. */
export const leaseList = (sql: Sql, leases: readonly Lease[]) => sql`
  unnest(
    ${leases.map((lease) => lease.workspaceId)}::uuid[],
    ${leases.map((lease) => lease.connectionId)}::uuid[],
    ${leases.map((lease) => lease.fence)}::bigint[]
  ) as l (workspace_id, connection_id, fence)`

/** Gives a session back. One that is gone, or another's, is left alone. */
export async function releaseSession(tx: Tx, { workspaceId, connectionId, fence }: Lease): Promise<void> {
  await tx`
    update channel_sessions
    set holder = null,
      lease_until = statement_timestamp()
    where workspace_id = ${workspaceId}
      and connection_id = ${connectionId}
      and fence = ${fence}`
}

/** Whether the session is still ours. A lease that is overdue and that nobody has taken will do. */
export async function isOurs(sql: Sql, { workspaceId, connectionId, fence }: Lease): Promise<boolean> {
  const [row] = await sql`
    select fence
    from channel_sessions
    where workspace_id = ${workspaceId}
      and connection_id = ${connectionId}
      and fence = ${fence}
      and holder is not null`
  return row !== undefined
}

/** Shorter than the lease: a process that stalls in the midst of a transaction must not keep the session locked beyond it. */
const stalledFor = `${leaseMs - 4_000}ms`

/** SQL, to be selected by whoever locks a session: the database ends the transaction if nothing more comes of it. */
export const cutWhenStalled = (sql: Sql): Fragment =>
  sql`set_config('idle_in_transaction_session_timeout', ${stalledFor}, true)`

/** Throws LeaseLostError unless the session is still ours, which it then stays until the transaction ends. */
export async function standBehindFence(tx: Tx, { workspaceId, connectionId, fence }: Lease): Promise<void> {
  const [row] = await tx`
    select fence, ${cutWhenStalled(tx)}
    from channel_sessions
    where workspace_id = ${workspaceId}
      and connection_id = ${connectionId}
      and fence = ${fence}
      and holder is not null
    for share`.execute()
  if (row === undefined) throw new LeaseLost()
}

export interface Standing {
  /** In how many milliseconds the first session can be claimed; null when there is none to claim. */
  freeInMs: number | null
  isHeldByOthers: boolean
}

/** How the sessions stand that this process does not hold. */
export async function readStanding(sql: Sql): Promise<Standing> {
  const [row] = await sql<Standing[]>`
    select
      min(case when holder is null then 0 else extract(epoch from lease_until - clock_timestamp()) * 1000 end)::float8
        as "freeInMs",
      coalesce(bool_or(holder is not null and lease_until > clock_timestamp()), false) as "isHeldByOthers"
    from channel_sessions
    where (wish is not null or state in ('pairing', 'connecting', 'open', 'waiting'))
      and (holder is null or lease_session <> ${ownSession(sql)})`
  return row ?? { freeInMs: null, isHeldByOthers: false }
}

/** The processes that hold a lease and have no session at the database any more. */
export async function listDeadHolders(sql: Sql): Promise<string[]> {
  // Which sessions there are at the database is asked where processes have theirs, and not where rows lie.
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
    where ${isHeldByDead(sql)}`
  return rows.map((row) => row.lease_session)
}

/** Ends what these hold. */
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
