import type { Sql } from '../base/db.ts'
import type { Keyring } from '../base/keyring.ts'
import type { EventName } from './catalogue.ts'

/** An event with its place in the workspace's feed; the payload is still sealed. */
export interface PlacedEvent {
  position: number
  id: string
  name: EventName
  subjectId: string
  connectionId: string | null
  occurredAt: Date
  payload: Buffer
}

/** Events behind a place, in order. Test events are in no feed. */
export async function readFeed(
  sql: Sql,
  workspaceId: string,
  after: number,
  limit: number,
  which: { names: readonly EventName[]; connectionIds?: readonly string[] },
): Promise<PlacedEvent[]> {
  const connectionIds = which.connectionIds ?? []
  return sql<PlacedEvent[]>`
    select
      position,
      id,
      name,
      subject_id as "subjectId",
      connection_id as "connectionId",
      occurred_at as "occurredAt",
      payload
    from events
    where workspace_id = ${workspaceId}
      and position > ${after}
      and test_endpoint_id is null
      and name = any (${which.names}::text[])
      and (
        connection_id is null
        or ${connectionIds.length === 0}
        or connection_id = any (${connectionIds}::uuid[])
      )
    order by position
    limit ${limit}`
}

/** The body as it was recorded: nothing is masked yet. */
export function openPayload(keyring: Keyring, event: Pick<PlacedEvent, 'id' | 'payload'>): Record<string, unknown> {
  return JSON.parse(keyring.openText({ table: 'events', row: event.id, column: 'payload' }, event.payload))
}

/** How a reader sees a payload: as recorded, or with the phones hidden. The rooms that record the events know it. */
export type PresentPayload = (
  name: EventName,
  payload: Record<string, unknown>,
  view: { keyring: Keyring; masked: boolean },
) => object
