import type { Sql } from '../base/db.ts'
import type { Log } from '../base/log.ts'
import type { Keyring } from '../base/sealing/keyring.ts'
import { UnknownKeyVersion } from '../base/sealing/seal.ts'
import type { EventName } from './event-groups.ts'

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

/** Events after a place, in order. Test events are in no feed. */
export async function readFeed(
  sql: Sql,
  workspaceId: string,
  after: number,
  limit: number,
  which: {
    names: readonly EventName[]
    /** None: all. */
    connectionIds?: readonly string[]
    /** The last place to look at. */
    upTo?: number
  },
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
      and position <= ${which.upTo ?? Number.MAX_SAFE_INTEGER}
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

export interface FeedState {
  /** Of the newest event that has a place. */
  last: number
  /** Events up to here are no longer kept. */
  removedTo: number
  /** Whether committed events wait for a place. */
  unplaced: boolean
}

export async function feedState(sql: Sql, workspaceId: string): Promise<FeedState> {
  const [state] = await sql<FeedState[]>`
    select
      coalesce(f.last_position, 0) as last,
      coalesce(f.removed_to, 0) as "removedTo",
      exists (
        select
        from events
        where workspace_id = ${workspaceId}
          and position is null
      ) as unplaced
    from (select ${workspaceId}::uuid as id) as w
    left join event_feeds f on f.workspace_id = w.id`
  if (state === undefined) throw new Error('A row was expected')
  return state
}

/** The same for several workspaces at once; those without any event are left out. */
export async function feedStates(
  sql: Sql,
  workspaceIds: readonly string[],
): Promise<{ id: string; last: number; unplaced: boolean }[]> {
  return sql`
    select
      w.id,
      coalesce(f.last_position, 0) as last,
      u.id is not null as unplaced
    from unnest(${workspaceIds}::uuid[]) as w (id)
    left join event_feeds f on f.workspace_id = w.id
    -- One probe for each; "exists" would let the database gather all that wait first.
    left join lateral (
      select id
      from events
      where workspace_id = w.id
        and position is null
      limit 1
    ) as u on true
    where u.id is not null
      or f.last_position > 0`
}

/** The body as it was recorded: nothing is masked yet. */
function openPayload(keyring: Keyring, event: Pick<PlacedEvent, 'id' | 'payload'>): Record<string, unknown> {
  return JSON.parse(keyring.openText({ table: 'events', row: event.id, column: 'payload' }, event.payload))
}

/**
 * The events with their payloads. One that does not open, since its row was altered, is left out and logged: it must not
 * keep readers from what comes after it.
 */
export function openEvents(
  keyring: Keyring,
  events: readonly PlacedEvent[],
  log: Log,
): { event: PlacedEvent; payload: Record<string, unknown> }[] {
  return events.flatMap((event) => {
    try {
      return [{ event, payload: openPayload(keyring, event) }]
    } catch (error) {
      // A key that is only newer than those in memory: whoever has the vault loads it and tries again.
      if (error instanceof UnknownKeyVersion) throw error
      log.error('an event does not open and is passed over', { eventId: event.id }, error)
      return []
    }
  })
}

/** How a reader sees a payload: as recorded, or with the phones hidden. The rooms that record the events know it. */
export type PresentPayload = (
  name: EventName,
  payload: Record<string, unknown>,
  view: { keyring: Keyring; masked: boolean },
) => object
