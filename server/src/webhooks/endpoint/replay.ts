import { announce, type Fragment, type Sql, type Tx } from '../../base/db.ts'
import { newId } from '../../base/id.ts'
import type { KnownEvent } from '../event-catalogue.ts'
import type { Endpoint } from './endpoint.ts'
import { tooManyReplays } from './errors.ts'

/** Something of the workspace, which is the id, is due at an endpoint, or an endpoint was changed. */
export const dueTopic = 'webhooks_due'

const maxOpenReplays = 5

type Receiver = Pick<Endpoint, 'workspaceId' | 'id' | 'phoneVisibility'>

export interface EventToSend {
  position: number
  id: string
  name: KnownEvent
  subjectId: string
  occurredAt: Date
}

/**
 * Lets one event be sent at once and by a new round of the schedule, whatever became of it before or becomes of an attempt
 * that is under way.
 */
export async function queueAgain(tx: Tx, endpoint: Receiver, event: EventToSend, now: Date): Promise<void> {
  const generation = await hasten(tx, endpoint, now)
  await keepTakenAttempts(tx, endpoint.workspaceId, endpoint.id, [event.position])
  await insertPending(tx, endpoint, { generation, round: 1, now }, event, tx`update set ${newRound(tx)}`)
}

/** Lets one event be sent at once, unless a worker has come to it already. */
export async function queueOnce(tx: Tx, endpoint: Receiver, event: EventToSend, now: Date): Promise<void> {
  const generation = await hasten(tx, endpoint, now)
  await insertPending(tx, endpoint, { generation, round: 0, now }, event, tx`nothing`)
}

async function insertPending(
  tx: Tx,
  endpoint: Receiver,
  { generation, round, now }: { generation: number; round: number; now: Date },
  event: EventToSend,
  onConflict: Fragment,
): Promise<void> {
  const { workspaceId, id: endpointId } = endpoint
  await tx`
    insert into webhook_deliveries (
      workspace_id, endpoint_id, position, event_id, event_name, subject_id, occurred_at, masked, state, generation,
      round, round_attempts, attempts, due_at
    )
    values (
      ${workspaceId}, ${endpointId}, ${event.position}, ${event.id}, ${event.name}, ${event.subjectId},
      ${event.occurredAt}, ${endpoint.phoneVisibility === 'masked'}, 'pending', ${generation}, ${round}, 0, 0, ${now}
    )
    on conflict (workspace_id, endpoint_id, position) do ${onConflict}`
  announce(tx, dueTopic, workspaceId)
}

// The queue is locked from here on, as it is while a worker settles: neither sees half of what the other does.
async function hasten(tx: Tx, { workspaceId, id }: Receiver, now: Date): Promise<number> {
  const [queue] = await tx<{ generation: number }[]>`
    update webhook_queues
    set retry_at = least(retry_at, ${now}::timestamptz)
    where workspace_id = ${workspaceId}
      and endpoint_id = ${id}
    returning generation`
  if (queue === undefined) throw new Error(`Endpoint ${id} has no queue`)
  return queue.generation
}

/** What a delivery is that begins again, in an insert's "on conflict do update set". */
export const newRound = (sql: Sql) => sql`
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

/** The attempts that were taken go to those of earlier rounds, before deliveries begin again. */
export async function keepTakenAttempts(
  tx: Tx,
  workspaceId: string,
  endpointId: string,
  places: readonly number[],
): Promise<void> {
  await tx`
    insert into webhook_attempts (workspace_id, endpoint_id, position, number, at, status, ms, error, answer)
    select workspace_id, endpoint_id, position, attempts, delivered_at, delivered_status, delivered_ms, null,
      delivered_answer
    from webhook_deliveries
    where workspace_id = ${workspaceId}
      and endpoint_id = ${endpointId}
      and position = any (${places}::bigint[])
      and state = 'delivered'
    on conflict do nothing`
}

export interface Replay {
  id: string
  from: Date
  to: Date
  scope: 'undelivered' | 'all'
}

/** Lets a range of time be sent again; answers the id of the work. Refuses the sixth that is open. */
export async function openReplay(
  tx: Tx,
  endpoint: Receiver,
  { from, to, scope }: Omit<Replay, 'id'>,
  now: Date,
): Promise<string> {
  const { workspaceId } = endpoint
  if ((await countOpenReplays(tx, endpoint)) >= maxOpenReplays) throw tooManyReplays(maxOpenReplays)
  const id = newId(now)
  await tx`
    insert into webhook_replays (workspace_id, endpoint_id, id, from_at, to_at, scope, created_at)
    values (${workspaceId}, ${endpoint.id}, ${id}, ${from}, ${to}, ${scope}, ${now})`
  announce(tx, dueTopic, workspaceId)
  return id
}

async function countOpenReplays(tx: Tx, { workspaceId, id }: Receiver): Promise<number> {
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
