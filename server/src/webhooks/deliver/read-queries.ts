import type { Sql, Tx } from '../../base/db.ts'
import { type Lease, lockQueue } from '../endpoint/lease.ts'
import type { KnownEvent } from '../event-catalogue.ts'
import type { Delivery } from './delivery.ts'

/** Where a queue is read: its rows of another generation are cancelled, and what is held in memory is not read again. */
export interface Reading {
  lease: Lease
  generation: number
  /** Places that are in memory. */
  held: readonly number[]
  limit: number
}

/**
 * Waiting deliveries that are due. One goes before those behind it in its lane: so it is left out as long as one before
 * it comes later in this order.
 */
export async function listDue(sql: Sql, { lease, generation, held, limit }: Reading, now: Date): Promise<Delivery[]> {
  return sql<Delivery[]>`
    select
      d.position,
      d.event_id as "eventId",
      d.event_name as name,
      d.subject_id as "subjectId",
      d.occurred_at as "occurredAt",
      e.payload,
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
      and not exists (${laterBefore(sql)})
    order by d.due_at, d.position
    limit ${limit}`
}

/** Of the lane of `d`, those that stand before it and are due later. */
function laterBefore(sql: Sql) {
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
 * Events of the next places of the feed that the endpoint wants and has no row of, and the place up to which it was
 * read. A range of places rather than so many events: the plan then never depends on how much waits or was delivered.
 */
export async function readFresh(
  sql: Sql,
  { lease, limit }: Reading,
  after: number,
  names: readonly KnownEvent[],
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

/** Of these lanes, those in which rows wait that are not in memory, and when the last of them is due. */
export async function listWaitingLanes(
  sql: Sql,
  { lease, generation, held }: Reading,
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
 * Puts off what is due but waits behind something later, writes when the next delivery is due, and answers it. Call it
 * when everything else that is due is in memory.
 */
export async function putOffBlocked(tx: Tx, { lease, held }: Reading, now: Date): Promise<Date | null> {
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
      and exists (${laterBefore(tx)})`
  return noteNextDue(tx, lease, generation, held)
}

/** Writes when the queue is next due; answers the same of what is not in memory. The queue is locked. */
export async function noteNextDue(
  tx: Tx,
  lease: Lease,
  generation: number,
  held: readonly number[],
): Promise<Date | null> {
  const [next] = await tx<{ due: Date | null }[]>`
    with waiting as (
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
      set retry_at = (select min(due_at) from waiting)
      where workspace_id = ${lease.workspaceId}
        and endpoint_id = ${lease.endpointId}
    )
    select min(due_at) as due
    from waiting
    where position <> all (${held}::bigint[])`
  return next?.due ?? null
}
