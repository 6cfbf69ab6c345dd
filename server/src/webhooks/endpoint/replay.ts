import type { Clock } from '../../base/clock.ts'
import { type Db, publish, type Sql, type Tx } from '../../base/db.ts'
import { conflict } from '../../base/errors.ts'
import { firstIdAt, newId } from '../../base/id.ts'
import type { KnownEvent } from '../event-catalog.ts'
import type { Endpoint, EndpointKey } from './endpoint.ts'
import { dueTopic, type Lease, lockQueue, makeQueueDue } from './queue-queries.ts'

const maxOpenReplays = 5

type ReplayEndpoint = EndpointKey & Pick<Endpoint, 'phoneVisibility'>

export interface EventToSend {
  position: number
  id: string
  name: KnownEvent
  subjectId: string
  occurredAt: Date
}

/**
 * Queues an event for an immediate send. As `resend`, it starts a new round of retries, regardless of earlier attempts or
 * one in progress; `once` leaves an event that has a delivery as it is.
 */
export async function queueEvent(
  tx: Tx,
  endpoint: ReplayEndpoint,
  event: EventToSend,
  mode: 'resend' | 'once',
  now: Date,
): Promise<void> {
  const { workspaceId, id: endpointId } = endpoint
  const generation = await makeQueueDue(tx, endpoint, now)
  const isResend = mode === 'resend'
  if (isResend) await archiveDeliveredAttempts(tx, endpoint, [event.position])
  await tx`
    insert into webhook_deliveries (
      workspace_id, endpoint_id, position, event_id, event_name, subject_id, occurred_at, masked, state, generation,
      round, round_attempts, attempts, due_at
    )
    values (
      ${workspaceId}, ${endpointId}, ${event.position}, ${event.id}, ${event.name}, ${event.subjectId},
      ${event.occurredAt}, ${endpoint.phoneVisibility === 'masked'}, 'pending', ${generation}, ${isResend ? 1 : 0}, 0, 0,
      ${now}
    )
    on conflict (workspace_id, endpoint_id, position) do ${isResend ? tx`update set ${newRoundValues(tx)}` : tx`nothing`}`
  publish(tx, dueTopic, workspaceId)
}

/** Values of a delivery that starts a new round, for `on conflict do update set`. */
const newRoundValues = (sql: Sql) => sql`
  masked = webhook_deliveries.masked or excluded.masked,
  state = 'pending',
  generation = excluded.generation,
  round = webhook_deliveries.round + 1,
  round_attempts = 0,
  due_at = excluded.due_at,
  delivered_at = null,
  delivered_status = null,
  delivered_ms = null,
  delivered_answer = null`

/** Moves successful attempts to the attempts of earlier rounds, before deliveries start a new round. */
async function archiveDeliveredAttempts(
  tx: Tx,
  { workspaceId, id }: EndpointKey,
  positions: readonly number[],
): Promise<void> {
  await tx`
    insert into webhook_attempts (workspace_id, endpoint_id, position, number, at, status, ms, error, answer)
    select workspace_id, endpoint_id, position, attempts, delivered_at, delivered_status, delivered_ms, null,
      delivered_answer
    from webhook_deliveries
    where workspace_id = ${workspaceId}
      and endpoint_id = ${id}
      and position = any (${positions}::bigint[])
      and state = 'delivered'
    on conflict do nothing`
}

export interface Replay {
  id: string
  from: Date
  to: Date
  scope: 'undelivered' | 'all'
}

/** Creates a replay of a time range and returns its id. Throws 409 if five are open. */
export async function createReplay(
  tx: Tx,
  endpoint: ReplayEndpoint,
  { from, to, scope }: Omit<Replay, 'id'>,
  now: Date,
): Promise<string> {
  const { workspaceId } = endpoint
  if ((await countOpenReplays(tx, endpoint)) >= maxOpenReplays)
    throw conflict(`${maxOpenReplays} replays are open, the maximum; wait until one has finished`)
  const id = newId(now)
  await tx`
    insert into webhook_replays (workspace_id, endpoint_id, id, from_at, to_at, scope, created_at)
    values (${workspaceId}, ${endpoint.id}, ${id}, ${from}, ${to}, ${scope}, ${now})`
  publish(tx, dueTopic, workspaceId)
  return id
}

export interface ReplayRow extends Replay {
  reached: string | null
  queued: number
  createdAt: Date
  finishedAt: Date | null
}

/** Returns the replays of an endpoint, newest first, at most 100; with an id, that one only. */
export async function selectReplays(sql: Sql, one: EndpointKey, id: string | null): Promise<ReplayRow[]> {
  return sql<ReplayRow[]>`
    select id, from_at as "from", to_at as "to", scope, reached, queued, created_at as "createdAt",
      finished_at as "finishedAt"
    from webhook_replays
    where workspace_id = ${one.workspaceId}
      and endpoint_id = ${one.id}
      and (${id}::uuid is null or id = ${id})
    order by id desc
    limit 100`
}

/** Ends all open replays without completing them. */
export async function finishReplays(tx: Tx, { workspaceId, id }: EndpointKey, now: Date): Promise<void> {
  await tx`
    update webhook_replays
    set finished_at = ${now}
    where workspace_id = ${workspaceId}
      and endpoint_id = ${id}
      and finished_at is null`
}

async function countOpenReplays(tx: Tx, { workspaceId, id }: EndpointKey): Promise<number> {
  // Locks the queue: two that open a replay at once count each other.
  await tx`
    select 1
    from webhook_queues
    where workspace_id = ${workspaceId}
      and endpoint_id = ${id}
    for update`
  const [row] = await tx<{ count: number }[]>`
    select count(*)::integer as count
    from webhook_replays
    where workspace_id = ${workspaceId}
      and endpoint_id = ${id}
      and finished_at is null`
  return row?.count ?? 0
}

/** Events per step of a replay. */
const batchSize = 1000

interface ReplayQueue {
  lease: Lease
  generation: number
  endpoint: Pick<Endpoint, 'phoneVisibility'>
  /** Event names that the endpoint subscribes to. */
  names: readonly KnownEvent[]
  /** Feed position up to which the queue has read. */
  readTo: number
}

type OpenReplay = Replay & Pick<ReplayRow, 'reached'>

/**
 * Saves due rows for the next 1,000 events of the oldest open replay. Leaves out events that the queue has not read
 * yet. The queue must have no deliveries in memory.
 */
export async function runReplayStep(
  { db, clock }: { db: Db; clock: Clock },
  queue: ReplayQueue,
): Promise<{ hasMore: boolean }> {
  const { lease } = queue
  return db.tx(async (tx) => {
    if ((await lockQueue(tx, lease)) !== queue.generation) return { hasMore: false }
    const [replay, next] = await tx<OpenReplay[]>`
      select id, from_at as "from", to_at as "to", scope, reached
      from webhook_replays
      where workspace_id = ${lease.workspaceId}
        and endpoint_id = ${lease.endpointId}
        and finished_at is null
      order by id
      limit 2`
    if (replay === undefined) return { hasMore: false }
    const isFinished = await queueNextEvents(tx, queue, replay, clock.now())
    return { hasMore: !isFinished || next !== undefined }
  })
}

async function queueNextEvents(tx: Tx, queue: ReplayQueue, replay: OpenReplay, now: Date): Promise<boolean> {
  const { lease, generation, endpoint, readTo, names } = queue
  const key = { workspaceId: lease.workspaceId, id: lease.endpointId }
  const page = await listRange(tx, lease.workspaceId, replay, readTo, names)
  const positions = page.map((event) => event.position)
  if (replay.scope === 'all') await archiveDeliveredAttempts(tx, key, positions)
  const queued = await tx`
    insert into webhook_deliveries (
      workspace_id, endpoint_id, position, event_id, event_name, subject_id, occurred_at, masked, state, generation,
      round_attempts, attempts, due_at
    )
    select
      workspace_id, ${lease.endpointId}, position, id, name, subject_id, occurred_at,
      ${endpoint.phoneVisibility === 'masked'}, 'pending', ${generation}, 0, 0, ${now}
    from events
    where workspace_id = ${lease.workspaceId}
      and position = any (${positions}::bigint[])
    on conflict (workspace_id, endpoint_id, position) do update
    set ${newRoundValues(tx)}
    where case
      when webhook_deliveries.state = 'pending' then webhook_deliveries.generation <> excluded.generation
      when webhook_deliveries.state = 'delivered' then ${replay.scope === 'all'}
      else true
    end`
  await makeQueueDue(tx, key, now)
  const isFinished = page.length < batchSize
  await tx`
    update webhook_replays
    set reached = ${page.at(-1)?.id ?? replay.reached},
      queued = queued + ${queued.count},
      finished_at = ${isFinished ? now : null}
    where workspace_id = ${lease.workspaceId}
      and endpoint_id = ${lease.endpointId}
      and id = ${replay.id}`
  return isFinished
}

async function listRange(
  tx: Tx,
  workspaceId: string,
  { from, to, reached }: OpenReplay,
  upTo: number,
  names: readonly KnownEvent[],
): Promise<{ id: string; position: number }[]> {
  return tx<{ id: string; position: number }[]>`
    select id, position
    from events
    where workspace_id = ${workspaceId}
      and id > ${reached ?? firstIdAt(from)}
      and id < ${firstIdAt(new Date(to.getTime() + idsRunAheadMs))}
      and occurred_at between ${from} and ${to}
      and position <= ${upTo}
      and test_endpoint_id is null
      and name = any (${names}::text[])
    order by id
    limit ${batchSize}`
}

/** Ids can run ahead of the clock, when many are created in one millisecond. */
const idsRunAheadMs = 1000
