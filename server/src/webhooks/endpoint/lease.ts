import type { Sql, Tx } from '../../base/db.ts'
import { isHeldByDead, ownSession } from '../../base/lease-session.ts'
import type { EndpointRow } from './endpoint.ts'

/** How long a queue belongs to the worker that has claimed it, by the database's clock. */
export const leaseMs = 15_000

/** A queue that this process may read and send from, as it stood when it was claimed. */
export interface ClaimedQueue extends EndpointRow {
  /** Of this claim alone: whoever claims it next has another one. */
  owner: string
  /** The role and the name of the sessions of this process. */
  session: string
  cursor: number
  /** Events up to here are no longer kept. */
  removed_to: number
  generation: number
  retry_at: Date | null
  failing_since: Date | null
  failures_in_a_row: number
  last_success_at: Date | null
  has_replay: boolean
}

/** What the worker is told of a queue that it goes on to hold. */
export interface HeldQueue extends EndpointRow {
  generation: number
  retry_at: Date | null
  removed_at: Date | null
  has_replay: boolean
}

const leaseFor = `${leaseMs} milliseconds`
/** How long a queue that was given to another worker waits for it. */
const keptFor = '2 seconds'

/** Claims queues in which something can be sent, those first that have waited longest; of the workspaces given, or of all. */
export async function claimQueues(
  tx: Tx,
  workspaceIds: readonly string[] | null,
  limit: number,
  now: Date,
): Promise<ClaimedQueue[]> {
  return tx<ClaimedQueue[]>`
    with free as (
      select q.workspace_id, q.endpoint_id, f.removed_to
      from webhook_queues q
      join webhook_endpoints e
        on e.workspace_id = q.workspace_id
        and e.id = q.endpoint_id
      left join event_feeds f on f.workspace_id = q.workspace_id
      where ${workspaceIds === null ? tx`true` : tx`q.workspace_id = any (${workspaceIds}::uuid[])`}
        and e.state = 'active'
        and e.removed_at is null
        and (
          q.lease_until < clock_timestamp()
          or (q.lease_owner is null and coalesce(q.lease_session, ${ownSession(tx)}) = ${ownSession(tx)})
        )
        and (q.paused_until is null or q.paused_until <= ${now})
        and (q.cursor < f.last_position or q.retry_at <= ${now} or ${hasReplay(tx)})
      order by q.lease_until nulls first
      limit ${limit}
      for update of q skip locked
    )
    update webhook_queues q
    set lease_owner = gen_random_uuid(),
      lease_until = clock_timestamp() + ${leaseFor}::interval,
      lease_session = ${ownSession(tx)}
    from free, webhook_endpoints e
    where q.workspace_id = free.workspace_id
      and q.endpoint_id = free.endpoint_id
      and e.workspace_id = q.workspace_id
      and e.id = q.endpoint_id
    returning ${endpointColumns(tx)},
      q.lease_owner as owner, q.lease_session as session, q.cursor, coalesce(free.removed_to, 0) as removed_to,
      q.generation, q.retry_at, q.failing_since, q.failures_in_a_row, q.last_success_at, ${hasReplay(tx)} as has_replay`
}

/** Holds on to queues, and answers how their endpoints are now. Those of which nothing is told belong to another. */
export async function renewLeases(tx: Tx, owners: readonly string[]): Promise<(HeldQueue & { owner: string })[]> {
  return tx<(HeldQueue & { owner: string })[]>`
    with held as (
      -- In one order, as all who lock several.
      select workspace_id, endpoint_id
      from webhook_queues
      where lease_owner = any (${owners}::uuid[])
      order by workspace_id, endpoint_id
      for update
    )
    update webhook_queues q
    set lease_until = clock_timestamp() + ${leaseFor}::interval
    from held, webhook_endpoints e
    where q.workspace_id = held.workspace_id
      and q.endpoint_id = held.endpoint_id
      and e.workspace_id = q.workspace_id
      and e.id = q.endpoint_id
    returning ${endpointColumns(tx)},
      q.lease_owner as owner, q.generation, q.retry_at, e.removed_at, ${hasReplay(tx)} as has_replay`
}

/** Ends the leases of workers that are dead. Answers how many. */
export async function endLeasesOfDead(tx: Tx): Promise<number> {
  const ended = await tx`
    update webhook_queues
    set lease_until = clock_timestamp() - interval '1 millisecond'
    where lease_until > clock_timestamp()
      and ${isHeldByDead(tx)}`
  return ended.count
}

/** What identifies a claim. */
export interface Lease {
  workspaceId: string
  endpointId: string
  owner: string
}

/** How a queue is given back. */
export interface Leaving {
  generation: number
  /** Everything up to here is done with. */
  cursor: number
  /** The worker that is to have it next, by the name of its sessions; null when anyone may. */
  heir: string | null
}

export async function releaseQueue(tx: Tx, lease: Lease, { generation, cursor, heir }: Leaving): Promise<void> {
  await tx`
    update webhook_queues
    set lease_owner = null,
      lease_until = clock_timestamp() + ${heir === null ? '0 seconds' : keptFor}::interval,
      lease_session = ${heir},
      cursor = case when generation = ${generation} then greatest(cursor, ${cursor}) else cursor end
    where workspace_id = ${lease.workspaceId}
      and endpoint_id = ${lease.endpointId}
      and lease_owner = ${lease.owner}`
}

/** A queue was claimed by another worker: whatever this one knows of it is old. */
export class LeaseLost extends Error {}

/**
 * Locks a queue that is still ours, first thing in each transaction that changes its deliveries: what it finds then
 * includes what a member has asked for meanwhile. Answers the generation. An overdue lease that nobody has taken will do.
 */
export async function lockQueue(tx: Tx, lease: Lease): Promise<number> {
  const [queue] = await tx<{ generation: number }[]>`
    select generation
    from webhook_queues
    where workspace_id = ${lease.workspaceId}
      and endpoint_id = ${lease.endpointId}
      and lease_owner = ${lease.owner}
    for update`.execute()
  if (queue === undefined) throw new LeaseLost()
  return queue.generation
}

function endpointColumns(sql: Sql) {
  return sql`
    e.workspace_id, e.id, e.description, e.events, e.phone_visibility, e.settings, e.state, e.state_reason,
    e.state_changed_at, e.created_at, e.updated_at`
}

function hasReplay(sql: Sql) {
  return sql`
    exists (
      select 1
      from webhook_replays r
      where r.workspace_id = q.workspace_id
        and r.endpoint_id = q.endpoint_id
        and r.finished_at is null
    )`
}
