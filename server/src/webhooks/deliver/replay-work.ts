import type { Tx } from '../../base/db.ts'
import { firstIdAt } from '../../base/first-id.ts'
import { lockQueue } from '../endpoint/lease.ts'
import { keepTakenAttempts, newRound } from '../endpoint/replay.ts'
import type { KnownEvent } from '../event-catalogue.ts'
import type { PumpDeps, Queue } from './queue.ts'

const batch = 1000

interface OpenReplay {
  id: string
  from: Date
  to: Date
  scope: 'undelivered' | 'all'
  reached: string | null
}

/**
 * Makes rows that are due of the next 1,000 events of the oldest open replay. Events that the queue has not come to
 * yet are left to it. Nothing of the queue may be in memory.
 */
export async function workReplay({ db, clock }: PumpDeps, queue: Queue): Promise<{ hasMore: boolean }> {
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
    const isFinished = await queueNext(tx, queue, replay, clock.now())
    return { hasMore: !isFinished || next !== undefined }
  })
}

async function queueNext(tx: Tx, queue: Queue, replay: OpenReplay, now: Date): Promise<boolean> {
  const { lease, generation, endpoint, readTo, names } = queue
  const page = await listRange(tx, lease.workspaceId, replay, readTo, names)
  const places = page.map((event) => event.position)
  if (replay.scope === 'all') await keepTakenAttempts(tx, lease.workspaceId, lease.endpointId, places)
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
      and position = any (${places}::bigint[])
    on conflict (workspace_id, endpoint_id, position) do update
    set ${newRound(tx)}
    where case webhook_deliveries.state
      when 'pending' then webhook_deliveries.generation <> excluded.generation
      when 'delivered' then ${replay.scope === 'all'}
      else true
    end`
  await tx`
    update webhook_queues
    set retry_at = least(retry_at, ${now}::timestamptz)
    where workspace_id = ${lease.workspaceId}
      and endpoint_id = ${lease.endpointId}`
  const isFinished = page.length < batch
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
    limit ${batch}`
}

/** Many ids made in one millisecond borrow from those that follow. */
const idsRunAheadMs = 1000
