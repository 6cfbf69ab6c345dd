import type { Tx } from '../../base/db.ts'
import { byteaArray, timestampArray } from '../../base/postgres/values.ts'
import type { Lease } from '../endpoint/queue-queries.ts'
import type { AttemptRow, DeliveryRow } from './delivery.ts'

export async function insertAttempts(
  tx: Tx,
  { workspaceId, endpointId }: Lease,
  rows: readonly AttemptRow[],
): Promise<void> {
  await tx`
    insert into webhook_attempts (workspace_id, endpoint_id, position, number, at, status, ms, error, answer)
    select ${workspaceId}::uuid, ${endpointId}::uuid, a.*
    from unnest(
      ${rows.map((row) => row.position)}::bigint[],
      ${rows.map((row) => row.number)}::integer[],
      ${timestampArray(rows.map((row) => row.at))}::timestamptz[],
      ${rows.map((row) => row.status)}::smallint[],
      ${rows.map((row) => row.ms)}::integer[],
      ${rows.map((row) => row.error)}::text[],
      ${byteaArray(rows.map((row) => row.answer))}::bytea[]
    ) as a
    on conflict do nothing`.execute()
}

/**
 * Keeps attempts that ended after their event was asked for again: they stay in the log and count among all attempts,
 * and decide nothing of the new round. `rows` is what they would have written.
 */
export async function keepEarlierAttempts(tx: Tx, lease: Lease, rows: readonly DeliveryRow[]): Promise<void> {
  const taken = rows.flatMap(({ position, attempts, deliveredAt, deliveredStatus, deliveredMs, deliveredAnswer }) =>
    deliveredAt === null || deliveredMs === null
      ? []
      : [
          {
            position,
            number: attempts,
            at: deliveredAt,
            status: deliveredStatus,
            ms: deliveredMs,
            error: null,
            answer: deliveredAnswer,
          },
        ],
  )
  if (taken.length > 0) await insertAttempts(tx, lease, taken)
  await tx`
    update webhook_deliveries d
    set attempts = greatest(d.attempts, r.attempts),
      masked = d.masked or r.masked
    from unnest(
      ${rows.map((row) => row.position)}::bigint[],
      ${rows.map((row) => row.attempts)}::integer[],
      ${rows.map((row) => String(row.masked))}::text[]::boolean[]
    ) as r (position, attempts, masked)
    where d.workspace_id = ${lease.workspaceId}
      and d.endpoint_id = ${lease.endpointId}
      and d.position = r.position`
}
