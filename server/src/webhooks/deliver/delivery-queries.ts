import { andOnlyWorkspace, type OnlyWorkspace } from '../../base/citus/distributed-sql.ts'
import type { Sql, Tx } from '../../base/db.ts'
import { columnNames, unnested } from '../../base/postgres/rows.ts'
import { timestampArray } from '../../base/postgres/values.ts'
import type { EventName } from '../../events/record.ts'
import { type Lease, lockQueue, updateNextDue } from '../endpoint/queue-queries.ts'
import type { Health } from '../endpoint/retry-policy.ts'
import type { Delivery, DeliveryRow } from './delivery.ts'

/** Parameters of a read: cancelled generations are ignored, and deliveries in memory are not read again. */
export interface QueueRead {
  lease: Lease
  generation: number
  /** Positions of deliveries in memory. */
  held: readonly number[]
  limit: number
}

/**
 * Returns pending deliveries that are due. Within a lane, deliveries go in order of position, so a delivery is left out
 * while an earlier one of its lane is due later.
 */
export async function listDue(sql: Sql, { lease, generation, held, limit }: QueueRead, now: Date): Promise<Delivery[]> {
  return sql<Delivery[]>`
    select
      d.position,
      d.event_id as "eventId",
      d.event_name as name,
      d.subject_id as "subjectId",
      d.occurred_at as "occurredAt",
      e.payload,
      e.trace,
      coalesce(e.test_endpoint_id is not null, false) as "isTest",
      true as "hasRow",
      d.masked,
      d.round,
      d.round_attempts as "roundAttempts",
      d.attempts
    from webhook_deliveries d
    left join events e
      on e.workspace_id = d.workspace_id
      and e.id = d.event_id
    where d.workspace_id = ${lease.workspaceId}
      and d.endpoint_id = ${lease.endpointId}
      and d.generation = ${generation}
      and d.state = 'pending'
      and d.due_at <= ${now}
      and d.position <> all (${held}::bigint[])
      and not exists (${blockedBy(sql)})
    order by d.due_at, d.position
    limit ${limit}`
}

/** Selects earlier pending deliveries of the lane of `d` that are due later. */
function blockedBy(sql: Sql) {
  return sql`
    select 1
    from webhook_deliveries b
    where b.workspace_id = d.workspace_id
      and b.endpoint_id = d.endpoint_id
      and b.generation = d.generation
      and b.subject_id = d.subject_id
      and b.state = 'pending'
      and b.position < d.position
      and b.due_at > d.due_at`
}

/**
 * Returns the next feed events that match the endpoint and have no delivery row, and the position up to which it has
 * read. Reads a range of positions, not a number of events, so that the query plan does not depend on the size of the
 * backlog.
 */
export async function listFresh(
  sql: Sql,
  { lease, limit }: QueueRead,
  after: number,
  names: readonly EventName[],
): Promise<{ fresh: Delivery[]; readTo: number; hasMore: boolean }> {
  const upTo = after + limit
  const rows = await sql<(Delivery & { last: number })[]>`
    select
      f.last_position as last,
      e.position,
      e.id as "eventId",
      e.name,
      e.subject_id as "subjectId",
      e.occurred_at as "occurredAt",
      e.payload,
      e.trace,
      e.test_endpoint_id is not null as "isTest",
      false as "hasRow",
      false as masked,
      0 as round,
      0 as "roundAttempts",
      0 as attempts
    from event_feeds f
    left join events e
      on e.workspace_id = f.workspace_id
      and e.position > ${after}
      and e.position <= ${upTo}
      and (
        (e.test_endpoint_id is null and e.name = any (${names}::text[]))
        or e.test_endpoint_id = ${lease.endpointId}
      )
      and e.position <> all (
        array(
          select d.position
          from webhook_deliveries d
          where d.workspace_id = ${lease.workspaceId}
            and d.endpoint_id = ${lease.endpointId}
            and d.position > ${after}
            and d.position <= ${upTo}
        )
      )
    where f.workspace_id = ${lease.workspaceId}
    order by e.position`
  const last = rows[0]?.last ?? after
  const fresh = rows.filter((row) => row.position !== null)
  return { fresh, readTo: Math.max(after, Math.min(upTo, last)), hasMore: upTo < last }
}

/** Returns those of the lanes that have pending rows which are not in memory, with the latest due time of each. */
export async function listWaitingLanes(
  sql: Sql,
  { lease, generation, held }: QueueRead,
  subjectIds: readonly string[],
): Promise<Map<string, Date>> {
  const rows = await sql<{ subjectId: string; dueAt: Date }[]>`
    select subject_id as "subjectId", max(due_at) as "dueAt"
    from webhook_deliveries
    where workspace_id = ${lease.workspaceId}
      and endpoint_id = ${lease.endpointId}
      and generation = ${generation}
      and state = 'pending'
      and subject_id = any (${subjectIds}::uuid[])
      and position <> all (${held}::bigint[])
    group by subject_id`
  return new Map(rows.map(({ subjectId, dueAt }) => [subjectId, dueAt]))
}

/**
 * Postpones due deliveries that wait for a later-due one, updates the next due time of the queue, and returns it. Call
 * it when all other due deliveries are in memory.
 */
export async function postponeBlocked(tx: Tx, { lease, held }: QueueRead, now: Date): Promise<Date | null> {
  const generation = await lockQueue(tx, lease)
  await tx`
    update webhook_deliveries d
    set due_at = (
      select max(b.due_at)
      from webhook_deliveries b
      where b.workspace_id = d.workspace_id
        and b.endpoint_id = d.endpoint_id
        and b.generation = d.generation
        and b.subject_id = d.subject_id
        and b.state = 'pending'
        and b.position < d.position
    )
    where d.workspace_id = ${lease.workspaceId}
      and d.endpoint_id = ${lease.endpointId}
      and d.generation = ${generation}
      and d.state = 'pending'
      and d.due_at <= ${now}
      and d.position <> all (${held}::bigint[])
      and exists (${blockedBy(tx)})`
  return updateNextDue(tx, lease, generation, held)
}

/** Saves deliveries, except those that were resent meanwhile. Returns the positions of the saved ones. */
export async function saveDeliveries(
  tx: Tx,
  { workspaceId, endpointId }: Lease,
  generation: number,
  rows: readonly DeliveryRow[],
): Promise<Set<number>> {
  const written = await tx<{ position: number }[]>`
    insert into webhook_deliveries (workspace_id, endpoint_id, generation, ${columnNames(deliveryColumns)})
    select ${workspaceId}::uuid, ${endpointId}::uuid, ${generation}::integer, n.*
    from ${unnested(rows, deliveryColumns)}
    ${onConflictUpdate(tx)}
    returning position`.execute()
  return new Set(written.map(({ position }) => position))
}

/** Successes of a queue to save: all deliveries were fresh from the feed, without a row. */
export interface QueueSuccesses {
  lease: Lease
  generation: number
  rows: readonly DeliveryRow[]
  cursor: number
  health: Health
}

/**
 * Saves the successes and states of several queues in one statement, or of those of one workspace. Returns the lease
 * owners that were saved completely. Nothing is saved if the lease is lost or the endpoint was disabled meanwhile; only
 * a part if an event was resent meanwhile.
 */
export async function saveSuccesses(tx: Tx, queues: readonly QueueSuccesses[], only: OnlyWorkspace): Promise<string[]> {
  const asked = queues.map(({ lease, generation, cursor, health }) => ({ ...lease, generation, cursor, ...health }))
  const rows = queues.flatMap(({ lease, generation, rows: each }) =>
    each.map((row) => ({ ...row, ...lease, generation })),
  )
  const written = await tx<{ owner: string; count: number }[]>`
    with asked as (
      select *
      from ${unnested(asked, queueColumns)}
    ), ${selectLocked(tx, queues, only)}, moved as (
      update webhook_queues q
      set cursor = greatest(q.cursor, l.cursor),
        failures_in_a_row = l.failures_in_a_row,
        failing_since = l.failing_since,
        last_success_at = l.last_success_at,
        paused_until = l.paused_until
      from locked l
      where q.workspace_id = l.workspace_id
        and q.endpoint_id = l.endpoint_id
        ${andOnlyWorkspace(tx, only, 'q')}
    ), saved as (
      insert into webhook_deliveries (${columnNames(queuedColumns)})
      select n.*
      from ${unnested(rows, queuedColumns)}
      join locked l using (workspace_id, endpoint_id)
      ${onConflictUpdate(tx)}
      returning workspace_id, endpoint_id
    ), counted as (
      select workspace_id, endpoint_id, count(*)
      from saved
      group by workspace_id, endpoint_id
    )
    select l.owner, c.count
    from locked l
    join counted c using (workspace_id, endpoint_id)`
  const countOf = new Map(written.map(({ owner, count }) => [owner, count]))
  const owners = queues.map((queue) => [queue.lease.owner, queue.rows.length] as const)
  return owners.flatMap(([owner, count]) => (countOf.get(owner) === count ? [owner] : []))
}

/**
 * SQL: rows of `asked` whose leases are still held. Locks the queues in a fixed order, like all code that locks
 * several, to avoid deadlocks.
 */
function selectLocked(sql: Sql, queues: readonly QueueSuccesses[], only: OnlyWorkspace) {
  if (only === null) {
    return sql`
    locked as (
      select a.*
      from webhook_queues q
      join asked a using (workspace_id, endpoint_id)
      where q.lease_owner = a.owner
        and q.generation = a.generation
      order by q.workspace_id, q.endpoint_id
      for update of q
    )`
  }
  // Citus writes rows that are locked in a join with a list in one format, and reads them in another.
  return sql`
    held as (
      select q.endpoint_id, q.lease_owner, q.generation
      from webhook_queues q
      where q.workspace_id = ${only}
        and q.endpoint_id = any (${queues.map((queue) => queue.lease.endpointId)}::uuid[])
      order by q.endpoint_id
      for update
    ), locked as (
      select a.*
      from asked a
      join held h using (endpoint_id)
      where h.lease_owner = a.owner
        and h.generation = a.generation
    )`
}

/** Columns of a delivery. Positions fit a bigint. */
const deliveryColumns = {
  numeric: ['position'],
  uuid: ['eventId', 'subjectId'],
  text: ['eventName', 'state'],
  timestamptz: ['occurredAt', 'dueAt', 'deliveredAt'],
  boolean: ['masked'],
  integer: ['round', 'roundAttempts', 'attempts', 'deliveredStatus', 'deliveredMs'],
  bytea: ['deliveredAnswer'],
} as const

/** The same for deliveries of several queues. */
const queuedColumns = {
  ...deliveryColumns,
  uuid: ['workspaceId', 'endpointId', ...deliveryColumns.uuid],
  integer: ['generation', ...deliveryColumns.integer],
} as const

const queueColumns = {
  uuid: ['workspaceId', 'endpointId', 'owner'],
  integer: ['generation', 'failuresInARow'],
  numeric: ['cursor'],
  timestamptz: ['failingSince', 'lastSuccessAt', 'pausedUntil'],
} as const

const onConflictUpdate = (sql: Sql) => sql`
  on conflict (workspace_id, endpoint_id, position) do update
  set generation = excluded.generation,
    masked = excluded.masked,
    state = excluded.state,
    round_attempts = excluded.round_attempts,
    attempts = excluded.attempts,
    due_at = excluded.due_at,
    delivered_at = excluded.delivered_at,
    delivered_status = excluded.delivered_status,
    delivered_ms = excluded.delivered_ms,
    delivered_answer = excluded.delivered_answer
  where webhook_deliveries.generation <= excluded.generation
    and webhook_deliveries.round = excluded.round`

/** Delays later rows of the lanes until the failed delivery is due, so that the order is kept. */
export async function delayFollowers(
  tx: Tx,
  { workspaceId, endpointId }: Lease,
  generation: number,
  heads: readonly { subjectId: string; position: number; dueAt: Date }[],
): Promise<void> {
  await tx`
    update webhook_deliveries d
    set due_at = h.due_at
    from unnest(
      ${heads.map((head) => head.subjectId)}::uuid[],
      ${heads.map((head) => head.position)}::bigint[],
      ${timestampArray(heads.map((head) => head.dueAt))}::timestamptz[]
    ) as h (subject_id, position, due_at)
    where d.workspace_id = ${workspaceId}
      and d.endpoint_id = ${endpointId}
      and d.generation = ${generation}
      and d.state = 'pending'
      and d.subject_id = h.subject_id
      and d.position > h.position
      and d.due_at < h.due_at`
}

/** Makes rows due that only waited for an earlier one of their lane. Rows that failed themselves keep their time. */
export async function releaseFollowers(
  tx: Tx,
  { workspaceId, endpointId }: Lease,
  generation: number,
  subjectIds: readonly string[],
  now: Date,
): Promise<void> {
  await tx`
    update webhook_deliveries
    set due_at = ${now}
    where workspace_id = ${workspaceId}
      and endpoint_id = ${endpointId}
      and generation = ${generation}
      and state = 'pending'
      and subject_id = any (${subjectIds}::uuid[])
      and round_attempts = 0
      and due_at > ${now}`
}
