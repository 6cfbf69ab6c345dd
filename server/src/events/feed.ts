import type { TSchema } from 'typebox'
import { isDistributed } from '../base/citus/distributed-sql.ts'
import type { Fragment, Sql } from '../base/db.ts'
import { UnknownKeyVersion } from '../base/encryption/encrypt.ts'
import type { Keyring } from '../base/encryption/keyring.ts'
import type { EncryptedColumns } from '../base/encryption/plaintext-cache.ts'
import type { Log } from '../base/log.ts'
import { isoTime } from '../base/time.ts'
import type { EventName, NewEvent } from './record.ts'

/** An event with its position in the workspace's feed. */
export interface SequencedEvent {
  position: number
  id: string
  name: EventName
  /** In PostgreSQL's text format; `isoTime` converts it for output. */
  occurredAt: string
  /** Encrypted, in base64, which decodes in half the time of hexadecimal. */
  payload: string
}

/** Filter and page size of a read. */
export interface FeedFilter {
  names: readonly EventName[]
  /** Empty: all. */
  connectionIds: readonly string[]
  limit: number
}

/** Reads events after a position, in order. Excludes test events. */
export async function readFeed(
  sql: Sql,
  workspaceId: string,
  { after, upTo }: { after: number; upTo: number },
  filter: FeedFilter,
): Promise<SequencedEvent[]> {
  return sql<SequencedEvent[]>`${selectEvents(sql, workspaceId, sql`${after}`, sql`${upTo}`, filter)}`
}

function selectEvents(
  sql: Sql,
  workspaceId: string,
  after: Fragment,
  upTo: Fragment,
  { names, connectionIds, limit }: FeedFilter,
) {
  return sql`
    select position, id, name, occurred_at::text as "occurredAt", encode(payload, 'base64') as payload
    from events
    where workspace_id = ${workspaceId}
      and position > ${after}
      and position <= ${upTo}
      and test_endpoint_id is null
      and name = any (${names}::text[])
      ${connectionIds.length === 0 ? sql`` : sql`and (connection_id is null or connection_id = any (${connectionIds}::uuid[]))`}
    order by position
    limit ${limit}`
}

export interface FeedState {
  /** Position of the newest sequenced event. */
  last: number
  /** Events up to this position are removed. */
  removedTo: number
  /** Whether committed events have no position yet. */
  unplaced: boolean
}

/** `unplaced` is null if it was not checked, because a full page does not need it. */
export type PageState = Omit<FeedState, 'unplaced'> & { unplaced: boolean | null }

export async function feedState(sql: Sql, workspaceId: string): Promise<FeedState> {
  const [state] = await sql<FeedState[]>`${selectState(sql, workspaceId, sql`true`)}`
  if (state === undefined) throw new Error('A row was expected')
  return state
}

// Checks `unplaced` only on demand: sequenced events leave dead index entries until the next vacuum, which the check
// scans.
const selectState = (sql: Sql, workspaceId: string, checksUnplaced: Fragment) => sql`
  select
    coalesce(f.last_position, 0) as last,
    coalesce(f.removed_to, 0) as "removedTo",
    case when ${checksUnplaced} then exists (
      select 1
      from events
      where workspace_id = ${workspaceId}
        and position is null
    ) end as unplaced
  from (select ${workspaceId}::uuid as id) as w
  left join event_feeds f on f.workspace_id = w.id`

/** Reads the state of the feed and its first events after a position (null: the start), within `stretch` positions. */
export async function readFeedState(
  sql: Sql,
  workspaceId: string,
  { after, stretch }: { after: number | null; stretch: number },
  filter: FeedFilter,
): Promise<{ state: PageState; events: SequencedEvent[] }> {
  const from = after === null ? sql`s."removedTo"` : sql`${after}::bigint`
  const upTo = sql`least(s.last, ${from} + ${stretch}::bigint)`
  const mayNotFill =
    stretch === 0
      ? sql`true`
      : sql`coalesce(f.last_position, 0) - ${after === null ? sql`coalesce(f.removed_to, 0)` : sql`${after}::bigint`} < ${filter.limit}::bigint`
  // The state has a row of its own; joined to the events, it would be repeated for each of them.
  const rows = await sql<(StateRow | EventRow)[]>`
    with s as materialized (${selectState(sql, workspaceId, mayNotFill)})
    select
      json_build_object('last', last, 'removedTo', "removedTo", 'unplaced', unplaced) as state,
      null::bigint as position,
      null::uuid as id,
      null::text as name,
      null::text as "occurredAt",
      null::text as payload
    from s
    union all
    select null, e.*
    from s
    cross join lateral (${selectEvents(sql, workspaceId, from, upTo, filter)}) as e`
  const state = rows.find((row) => row.state !== null)?.state
  if (state == null) throw new Error('A row was expected')
  // `union all` guarantees no order.
  return { state, events: rows.filter(isEvent).sort((a, b) => a.position - b.position) }
}

type StateRow = { state: PageState }
type EventRow = SequencedEvent & { state: null }

const isEvent = (row: StateRow | EventRow): row is EventRow => row.state === null

/** Returns the states of several workspaces; leaves out those without any event. */
export async function feedStates(
  sql: Sql,
  workspaceIds: readonly string[],
): Promise<{ id: string; last: number; unplaced: boolean }[]> {
  const all = sql`${[...workspaceIds]}::uuid[]`
  if (isDistributed(sql)) {
    // Citus rejects a lateral probe per workspace.
    return sql`
      select w.id, coalesce(f.last_position, 0) as last, u.workspace_id is not null as unplaced
      from unnest(${all}) as w (id)
      left join (
        select workspace_id, last_position
        from event_feeds
        where workspace_id = any (${all})
        offset 0
      ) as f on f.workspace_id = w.id
      left join (
        select distinct workspace_id
        from events
        where workspace_id = any (${all})
          and position is null
        offset 0
      ) as u on u.workspace_id = w.id
      where u.workspace_id is not null
        or f.last_position > 0`
  }
  return sql`
    select
      w.id,
      coalesce(f.last_position, 0) as last,
      u.id is not null as unplaced
    from unnest(${all}) as w (id)
    left join event_feeds f on f.workspace_id = w.id
    -- One probe per workspace; with "exists", PostgreSQL may collect all unsequenced events first.
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

/** Events, and the last position of their feed when they were read. */
interface FeedEvents {
  events: readonly SequencedEvent[]
  last: number
}

export const parsePayload = (json: string) => JSON.parse(json) as Record<string, unknown>

/** Newest positions that are cached: many readers share them. Older events have one reader, who reads them once. */
const newestCached = 1000
const payloads: EncryptedColumns<string> = {
  table: 'events',
  columns: ['payload'],
  cachedAs: 'news',
  read: (json) => json ?? '',
}

/**
 * Decrypts events and parses their payloads. Logs and skips an event that cannot be decrypted because its row was
 * altered, so that it does not block later events.
 */
export function decryptEach<P>(
  keyring: Keyring,
  { events, last }: FeedEvents,
  log: Log,
  read: (json: string) => P,
): { event: SequencedEvent; payload: P }[] {
  return events.flatMap((event) => {
    try {
      const json =
        event.position > last - newestCached
          ? keyring.decryptCached(payloads, event.id, event.payload)
          : keyring.decryptText(
              { table: 'events', row: event.id, column: 'payload' },
              Buffer.from(event.payload, 'base64'),
            )
      return [{ event, payload: read(json) }]
    } catch (error) {
      // The key version is newer than those in memory: the caller reloads the keyring and retries.
      if (error instanceof UnknownKeyVersion) throw error
      log.error('failed to decrypt an event; skipping it', { eventId: event.id }, error)
      return []
    }
  })
}

/** An event as API keys and browsers get it. */
export interface PresentedEvent {
  id: string
  event: EventName
  occurred_at: string
  payload: object
}

export const presentEvent = ({ event, payload }: { event: SequencedEvent; payload: object }): PresentedEvent => ({
  id: event.id,
  event: event.name,
  occurred_at: isoTime(event.occurredAt),
  payload,
})

/** Presents a payload: as recorded, or with masked phones. Implemented by the modules that record the events. */
export type PresentPayload = (
  name: EventName,
  payload: Record<string, unknown>,
  view: { keyring: Keyring; masked: boolean },
) => object

/** Returns whether a payload has fields for the mask only. All others are sent as recorded, without parsing. */
export const needsPresenting = (json: string): boolean => json.includes('"formerPhones":')

/** Definition of an event, apart from the code that records it. */
export interface EventDefinition {
  /** When it fires and what its body contains, for people who choose events. */
  guide: string
  schema: TSchema
  /** Returns a sample event of a fictional lead or conversation, for webhook tests and documentation. */
  sample(subjectId: string, at: Date): NewEvent
  /** Returns the body without fields that are recorded for the mask only. */
  present?(payload: Record<string, unknown>): object
  /** Returns the body with masked phones. */
  mask(payload: Record<string, unknown>, keyring: Keyring): object
}

export type EventCatalog = Readonly<Record<EventName, EventDefinition>>

/** Creates a presenter from the event definitions. */
export const createPayloadPresenter =
  (catalog: EventCatalog): PresentPayload =>
  (name, payload, { keyring, masked }) => {
    if (!masked) return catalog[name]?.present?.(payload) ?? payload
    // An event of a newer version: it is unknown which fields contain phones.
    return catalog[name]?.mask(payload, keyring) ?? {}
  }
