import { byteaArray, type Tx, timestampArray } from '../base/db.ts'
import type { Health } from './health.ts'
import type { Lease } from './lease.ts'

/** A delivery as it is written. */
export interface DeliveryRow {
  position: number
  eventId: string
  name: string
  subjectId: string
  occurredAt: Date
  masked: boolean
  state: 'pending' | 'delivered' | 'failed'
  roundAttempts: number
  attempts: number
  dueAt: Date | null
  deliveredAt: Date | null
  deliveredStatus: number | null
  deliveredMs: number | null
  deliveredAnswer: Buffer | null
}

/** Nothing changes of what was asked for again after the endpoint had been disabled and enabled meanwhile. */
export async function saveDeliveries(
  tx: Tx,
  { workspaceId, endpointId }: Lease,
  generation: number,
  rows: readonly DeliveryRow[],
): Promise<void> {
  await tx`
    insert into webhook_deliveries (
      workspace_id, endpoint_id, generation, position, event_id, event_name, subject_id, occurred_at, masked, state,
      round_attempts, attempts, due_at, delivered_at, delivered_status, delivered_ms, delivered_answer
    )
    select ${workspaceId}::uuid, ${endpointId}::uuid, ${generation}::integer, d.*
    from unnest(
      ${rows.map((row) => row.position)}::bigint[],
      ${rows.map((row) => row.eventId)}::uuid[],
      ${rows.map((row) => row.name)}::text[],
      ${rows.map((row) => row.subjectId)}::uuid[],
      ${timestampArray(
        tx,
        rows.map((row) => row.occurredAt),
      )}::timestamptz[],
      ${rows.map((row) => String(row.masked))}::text[]::boolean[],
      ${rows.map((row) => row.state)}::text[],
      ${rows.map((row) => row.roundAttempts)}::smallint[],
      ${rows.map((row) => row.attempts)}::integer[],
      ${timestampArray(
        tx,
        rows.map((row) => row.dueAt),
      )}::timestamptz[],
      ${timestampArray(
        tx,
        rows.map((row) => row.deliveredAt),
      )}::timestamptz[],
      ${rows.map((row) => row.deliveredStatus)}::smallint[],
      ${rows.map((row) => row.deliveredMs)}::integer[],
      ${byteaArray(
        tx,
        rows.map((row) => row.deliveredAnswer),
      )}::bytea[]
    ) as d
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
    where webhook_deliveries.generation <= excluded.generation`
}

export interface FailedAttemptRow {
  position: number
  number: number
  at: Date
  status: number | null
  ms: number
  error: string | null
  answer: Buffer | null
}

export async function insertFailedAttempts(
  tx: Tx,
  { workspaceId, endpointId }: Lease,
  rows: readonly FailedAttemptRow[],
): Promise<void> {
  await tx`
    insert into webhook_attempts (workspace_id, endpoint_id, position, number, at, status, ms, error, answer)
    select ${workspaceId}::uuid, ${endpointId}::uuid, a.*
    from unnest(
      ${rows.map((row) => row.position)}::bigint[],
      ${rows.map((row) => row.number)}::integer[],
      ${timestampArray(
        tx,
        rows.map((row) => row.at),
      )}::timestamptz[],
      ${rows.map((row) => row.status)}::smallint[],
      ${rows.map((row) => row.ms)}::integer[],
      ${rows.map((row) => row.error)}::text[],
      ${byteaArray(
        tx,
        rows.map((row) => row.answer),
      )}::bytea[]
    ) as a
    on conflict do nothing`
}

/** Lets the rows behind a delivery that failed wait as long as it does, so that they come behind it again. */
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
      ${timestampArray(
        tx,
        heads.map((head) => head.dueAt),
      )}::timestamptz[]
    ) as h (subject_id, position, due_at)
    where d.workspace_id = ${workspaceId}
      and d.endpoint_id = ${endpointId}
      and d.generation = ${generation}
      and d.state = 'pending'
      and d.subject_id = h.subject_id
      and d.position > h.position
      and d.due_at < h.due_at`
}

/** Lets the rows go that only waited for one before them. What has failed itself keeps its time. */
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

/** Where the queue stands; nothing changes when it was disabled meanwhile, for then it begins anew. */
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
      and generation = ${generation}`
}
