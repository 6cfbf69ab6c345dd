import type { TSchema } from 'typebox'
import { isDistributed } from '../base/citus/distributed-sql.ts'
import type { Fragment, Sql } from '../base/db.ts'
import { UnknownKeyVersion } from '../base/encryption/encrypt.ts'
import type { Keyring } from '../base/encryption/keyring.ts'
import type { EncryptedColumns } from '../base/encryption/plaintext-cache.ts'
import type { Log } from '../base/log.ts'
import { isoTime } from '../base/time.ts'
import type { EventName, NewEvent } from './record.ts'

/** An event with its place in the workspace's feed. */
export interface SequencedEvent {
  position: number
  id: string
  name: EventName
  /** As the database writes it: `isoTime` makes of it what is shown. */
  occurredAt: string
  /** Still sealed; in base64, which is read in half the time that hexadecimal digits take. */
  payload: string
}

/** Which events, as far as a place and no more of them than `limit`. */
export interface FeedFilter {
  names: readonly EventName[]
  /** None: all. */
  connectionIds: readonly string[]
  limit: number
}

/** Events after a place, in order. Test events are in no feed. */
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
  /** Of the newest event that has a place. */
  last: number
  /** Events up to here are no longer kept. */
  removedTo: number
  /** Whether committed events wait for a place. */
  unplaced: boolean
}

/** Null where nobody has looked whether events wait: a page that will be full needs none of them. */
export type PageState = Omit<FeedState, 'unplaced'> & { unplaced: boolean | null }

export async function feedState(sql: Sql, workspaceId: string): Promise<FeedState> {
  const [state] = await sql<FeedState[]>`${selectState(sql, workspaceId, sql`true`)}`
  if (state === undefined) throw new Error('A row was expected')
  return state
}

// Each event that was placed leaves an entry behind until the next vacuum, and a look at those that wait walks over it.
const selectState = (sql: Sql, workspaceId: string, checksUnplaced: Fragment) => sql`
  select
    coalesce(f.last_position, 0) as last,
    coalesce(f.removed_to, 0) as "removedTo",
    case when ${checksUnplaced} then exists (
      select
      from events
      where workspace_id = ${workspaceId}
        and position is null
    ) end as unplaced
  from (select ${workspaceId}::uuid as id) as w
  left join event_feeds f on f.workspace_id = w.id`

/** How the feed stands, and its first events after a place (null: after what was removed), within so many places. */
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
  // A row of its own: beside each event, the state would be written and read as often as there are events.
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
  // A union promises no order, though it keeps it.
  return { state, events: rows.filter(isEvent).sort((a, b) => a.position - b.position) }
}

type StateRow = { state: PageState }
type EventRow = SequencedEvent & { state: null }

const isEvent = (row: StateRow | EventRow): row is EventRow => row.state === null

/** The same for several workspaces at once; those without any event are left out. */
export async function feedStates(
  sql: Sql,
  workspaceIds: readonly string[],
): Promise<{ id: string; last: number; unplaced: boolean }[]> {
  const all = sql`${[...workspaceIds]}::uuid[]`
  if (isDistributed(sql)) {
    // A probe for each is refused there.
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

/** Events, and how far their feed reached when they were read. */
export interface FeedEvents {
  events: readonly SequencedEvent[]
  last: number
}

/** The bodies as they were recorded: nothing is masked yet. */
export const decryptEvents = (keyring: Keyring, read: FeedEvents, log: Log) =>
  decryptEach(keyring, read, log, (json) => JSON.parse(json) as Record<string, unknown>)

/** The newest events have many readers: polls, browsers, agents. Those further back have one who goes through them once. */
const newestCached = 1000
const payloads: EncryptedColumns<string> = {
  table: 'events',
  columns: ['payload'],
  cachedAs: 'news',
  read: (json) => json ?? '',
}

/**
 * The events with what is read of their payloads. One that does not open, since its row was altered, is left out and
 * logged: it must not keep readers from what comes after it.
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
      // A key that is only newer than those in memory: whoever has the vault loads it and tries again.
      if (error instanceof UnknownKeyVersion) throw error
      log.error('failed to decrypt an event; skipping it', { eventId: event.id }, error)
      return []
    }
  })
}

/** An event as keys and browsers are shown it. */
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

/** How a reader sees a payload: as recorded, or with the phones hidden. The rooms that record the events know it. */
export type PresentPayload = (
  name: EventName,
  payload: Record<string, unknown>,
  view: { keyring: Keyring; masked: boolean },
) => object

/** Whether a recorded payload has what only the mask needs. All others are sent as they were recorded, without being parsed. */
export const needsPresenting = (json: string): boolean => json.includes('"formerPhones":')

/** All that is said of an event, beside the change that records it. Its name says its face. */
export interface EventDefinition {
  /** When it fires and what its body has, for people who choose. */
  guide: string
  /** The shape of its body. */
  schema: TSchema
  /** One of an invented lead or conversation, made as a true one is: for tests of webhooks and their documentation. */
  sample(subjectId: string, at: Date): NewEvent
  /** The body as it is shown whole, where more is recorded for the mask alone. */
  present?(payload: Record<string, unknown>): object
  /** The body as it is shown where phones are masked. */
  mask(payload: Record<string, unknown>, keyring: Keyring): object
}

export type EventCatalogue = Readonly<Record<EventName, EventDefinition>>

/** Shows payloads as the rooms that record them say. */
export const createPayloadPresenter =
  (catalogue: EventCatalogue): PresentPayload =>
  (name, payload, { keyring, masked }) => {
    if (!masked) return catalogue[name]?.present?.(payload) ?? payload
    // One that a newer version has recorded: nobody here knows where it has a phone.
    return catalogue[name]?.mask(payload, keyring) ?? {}
  }
