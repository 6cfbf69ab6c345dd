import { insertedRows } from '../base/citus/few-rows.ts'
import { type Fragment, publish, type Sql, setCommitProof, type Tx } from '../base/db.ts'
import type { Keyring } from '../base/encryption/keyring.ts'
import { newId } from '../base/id.ts'
import { columnNames, unnested } from '../base/postgres/rows.ts'
import { currentContext } from '../base/scheduling/work-context.ts'
import { packTraceparent } from '../base/tracing/span.ts'
import type { Actor } from '../workspaces/actor.ts'
import { type OptInEventName, optInEventNames } from '../workspaces/opt-in-events.ts'

export interface NewEvent {
  name: EventName
  /** Id of the lead or conversation. */
  subjectId: string
  /** The connection of the conversation; null for leads. */
  connectionId: string | null
  payload: object
  /** Author and changes, for the timeline only; not sent to receivers. */
  by?: EventAuthor
  changes?: object
}

export interface EventAuthor {
  actor: Actor
  partOf?: string
}

export const changesContext = (id: string) => ({ table: 'events', row: id, column: 'changes' })

/** Published for committed events without a feed position; the id is the workspace. */
export const recordedTopic = 'events_recorded'

/** Records events in the transaction of the change, in the given order. */
export async function recordEvents(
  tx: Tx,
  keyring: Keyring,
  workspaceId: string,
  events: readonly NewEvent[],
  at: Date,
): Promise<void> {
  if (events.length === 0) return
  publish(tx, recordedTopic, workspaceId)
  const ids = events.map(() => newId(at))
  setCommitProof(tx, (sql) => isRecorded(sql, workspaceId, ids[0]))
  await insertEvents(tx, keyring, workspaceId, events, at, null, ids).execute()
}

async function isRecorded(sql: Sql, workspaceId: string, id = ''): Promise<boolean> {
  const rows = await sql`
    select
    from events
    where workspace_id = ${workspaceId}
      and id = ${id}`
  return rows.length > 0
}

/** Returns a statement that records events, to run alone, or if `condition` holds as part of the change's statement. */
export function insertEvents(
  tx: Tx,
  keyring: Keyring,
  workspaceId: string,
  events: readonly NewEvent[],
  at: Date,
  condition: Fragment | null,
  ids = events.map(() => newId(at)),
) {
  const rows = events.map(({ by, payload, changes, ...event }, place) => {
    const id = ids[place] ?? ''
    return {
      ...event,
      ...{ id, place, actorType: by?.actor.type ?? null, actorId: by?.actor.id ?? null, partOf: by?.partOf ?? null },
      payload: keyring.encrypt({ table: 'events', row: id, column: 'payload' }, JSON.stringify(payload)),
      changes: changes === undefined ? null : keyring.encrypt(changesContext(id), JSON.stringify(changes)),
    }
  })
  const isAuthored = events.some(({ by, changes }) => by !== undefined || changes !== undefined)
  const [inserted, numbered] = isAuthored ? authoredColumns : columns
  const shared = tx`${workspaceId}::uuid, ${at}::timestamptz, ${currentTrace()}::bytea`
  const where = condition === null ? tx`` : tx`where ${condition}`
  const source = tx`from ${unnested(rows, numbered)} ${where} order by n.place`
  return tx`
    insert into events (workspace_id, occurred_at, trace, ${columnNames(inserted)})
    ${insertedRows(tx, shared, rows, inserted, { source, isConditional: condition !== null })}`
}

const common = { uuid: ['id', 'subjectId', 'connectionId'], text: ['name'], bytea: ['payload'] } as const
const withAuthor = {
  uuid: [...common.uuid, 'actorId'],
  text: [...common.text, 'actorType', 'partOf'],
  bytea: [...common.bytea, 'changes'],
} as const

/** Columns of events, and the same with their place. */
const columns = [common, { ...common, integer: ['place'] }] as const
/** Events of the inbox have no author and no changes: four columns of nulls would be read for each of them. */
const authoredColumns = [withAuthor, { ...withAuthor, integer: ['place'] }] as const

interface EventTx {
  tx: Tx
  keyring: Keyring
  workspaceId: string
  now: Date
}

/**
 * Runs the statement of a change, and records those of its events that the workspace has asked for by name in the same
 * statement: without such a request it costs no statement and no row. The database decides, so that an event is recorded
 * from the moment that the request for it has been committed, whichever process makes the change.
 */
export async function recordOptInEvents(
  { tx, keyring, workspaceId, now }: EventTx,
  events: readonly NewEvent[],
  change: Fragment | null = null,
): Promise<void> {
  if (events.length === 0) {
    if (change !== null) await tx`${change}`.execute()
    return
  }
  const [recorded] = await tx<{ count: number }[]>`
    with ${change === null ? tx`` : tx`change as (${change}),`}
    event as (
      ${insertEvents(tx, keyring, workspaceId, events, now, isRequested(tx, workspaceId))}
      returning id
    )
    select count(*)::integer as count
    from event`.execute()
  // If the commit was sent with the statement, other processes learn of it with the next event, or when they poll.
  if (recorded !== undefined && recorded.count > 0) publish(tx, recordedTopic, workspaceId)
}

/** SQL: whether the workspace has asked for the event `n`. Disabled endpoints count: they can get it when enabled again. */
const isRequested = (tx: Tx, workspaceId: string): Fragment => tx`(
  n.name in (
    select unnest(w.feed_events)
    from workspaces w
    where w.id = ${workspaceId}
  )
  or n.name in (
    select unnest(e.events)
    from webhook_endpoints e
    where e.workspace_id = ${workspaceId}
      and e.removed_at is null
  ))`

/** Records an event for one webhook endpoint only, and returns its id. */
export async function recordTestEvent(
  tx: Tx,
  keyring: Keyring,
  workspaceId: string,
  endpointId: string,
  event: NewEvent,
  at: Date,
): Promise<string> {
  const id = newId(at)
  const payload = keyring.encrypt({ table: 'events', row: id, column: 'payload' }, JSON.stringify(event.payload))
  await tx`
    insert into events (
      workspace_id, id, name, subject_id, connection_id, payload, occurred_at, test_endpoint_id, trace
    )
    values (
      ${workspaceId}, ${id}, ${event.name}, ${event.subjectId}, ${event.connectionId}, ${payload}, ${at},
      ${endpointId}, ${currentTrace()}
    )`
  publish(tx, recordedTopic, workspaceId)
  return id
}

/** Returns the trace context for deliveries of the event; null, which takes no space, without tracing. */
function currentTrace(): Buffer | null {
  const { span } = currentContext()
  return span === null ? null : packTraceparent(span.traceparent)
}

/** API that an event belongs to; keys need its read scope. */
type EventArea = 'leads' | 'inbox'

/** Starts with its subject. The modules that record events define them. */
export type EventName = `lead.${string}` | `inbox.${string}` | OptInEventName

export const isOptIn = (name: string): name is OptInEventName => (optInEventNames as readonly string[]).includes(name)

/** Patterns for all events of an area, including future ones, but not those that must be named. */
const eventGroups = { 'lead.*': 'leads', 'inbox.*': 'inbox' } as const satisfies Record<string, EventArea>

export const groupNames = Object.keys(eventGroups) as (keyof typeof eventGroups)[]

/** Lead events are sent bare, all others in an envelope with their name. */
export function areaOf(name: EventName): EventArea {
  return name.startsWith('lead.') ? 'leads' : 'inbox'
}

/** Returns the names that match a list of names and groups. */
export function matchEventNames<N extends EventName>(names: readonly N[], patterns: readonly string[]): N[] {
  const areas = groupNames.filter((group) => patterns.includes(group)).map((group) => eventGroups[group])
  return names.filter((name) => patterns.includes(name) || (!isOptIn(name) && areas.includes(areaOf(name))))
}
