import { announce, byteaArray, commitBehind, type Sql, type Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import { insertEvents, type NewEvent, recordedTopic } from '../../events/record.ts'
import { messageStatusChanged } from '../conversation/events.ts'
import { holdConversations } from '../conversation/many-queries.ts'
import { anyWorkspace } from '../conversation/queries.ts'
import { externalIndex } from '../conversation/sealed.ts'
import { climb, type MessageStatus, type Rung } from '../conversation/status-ladder.ts'
import type { StatusEvent } from './group-events.ts'
import { isPermanentError } from './permanent-errors.ts'
import type { ReceiveDeps, ToldStatus } from './receiver.ts'

// Nearly all statuses are of messages in one part that are settled: of those nothing needs to be opened or sealed but
// the event, and what is decided before the lock is stored where it still holds.

/** How many messages one transaction locks at most. */
const maxMessages = 500

/**
 * Applies what is told of settled messages, oldest first, and returns what it has not: of messages that wait for their
 * outcome, have failed, are in parts or known by no id yet, and of those that somebody else changed meanwhile.
 */
export async function advanceSettled(
  deps: ReceiveDeps,
  workspaceId: string,
  keyring: Keyring,
  statuses: readonly ToldStatus[],
): Promise<ToldStatus[]> {
  const left: ToldStatus[] = []
  const asked = Map.groupBy(statuses, ({ receiver, event }) => `${receiver.id} ${event.externalId}`)
  const told = [...asked.values()]
  const found = await findSettled(deps.db.sql, keyring, workspaceId, told)
  const climbs: Climb[] = []
  for (const [n, ofOne] of told.entries()) {
    const message = found.get(n)
    if (message === undefined) left.push(...ofOne)
    else climbs.push(...climbOf(message, ofOne))
  }
  for (let at = 0; at < climbs.length; at += maxMessages) {
    left.push(...(await storeTogether(deps, workspaceId, keyring, climbs.slice(at, at + maxMessages))))
  }
  return left
}

interface SettledRow {
  place: number
  connection_id: string
  message_id: string
  conversation_id: string
  status: Exclude<MessageStatus, 'pending' | 'failed'>
}

/** What becomes of a message, by what was told. */
interface Climb {
  row: SettledRow
  told: readonly ToldStatus[]
  to: Rung
  events: NewEvent[]
}

/**
 * None where the message stands higher already, which it always will. The part stands where its message does, so that one
 * ladder is climbed for both.
 */
function climbOf(row: SettledRow, told: readonly ToldStatus[]): Climb[] {
  const conversation = { id: row.conversation_id, connectionId: row.connection_id }
  const events: NewEvent[] = []
  let to: Rung = { status: row.status, errorCode: null }
  for (const { event } of told) {
    const rung = climb(to, rungOf(event))
    if (rung === null) continue
    to = rung
    events.push(messageStatusChanged(conversation, row.message_id, to, event.at))
  }
  return events.length === 0 ? [] : [{ row, told, to, events }]
}

/** Where a status leads. */
export const rungOf = ({ status, errorCode }: StatusEvent): Rung => ({
  status,
  errorCode: status === 'failed' ? errorCode : null,
})

/** Messages in one part, settled and not failed, by the platform's ids, each by its index. */
async function findSettled(
  sql: Sql,
  keyring: Keyring,
  workspaceId: string,
  told: readonly (readonly ToldStatus[])[],
): Promise<Map<number, SettledRow>> {
  const ids = told.flatMap(([first]) => first ?? [])
  const workspace = anyWorkspace(sql, workspaceId)
  const rows = await sql<SettledRow[]>`
    select n.place::integer, n.connection_id, p.message_id, m.conversation_id, m.status
    from unnest(
      ${ids.map(({ receiver }) => receiver.id)}::uuid[],
      ${byteaArray(
        sql,
        ids.map(({ receiver, event }) => externalIndex(keyring, receiver.id, event.externalId)),
      )}::bytea[]
    ) with ordinality as n (connection_id, external_index, place)
    cross join lateral (
      select message_id, status from message_parts
      where workspace_id = ${workspace}
        and connection_id = n.connection_id
        and external_index = n.external_index
        and part = 1
      offset 0
    ) as p
    cross join lateral (
      select conversation_id, status from messages
      where workspace_id = ${workspace}
        and id = p.message_id
        and status = p.status
        and status in ('sent', 'delivered', 'read')
        and direction = 'outbound'
        and origin in ('live', 'echo')
        and external_id is not null
      offset 0
    ) as m
    where (
      select o.part from message_parts o
      where o.workspace_id = ${workspace} and o.message_id = p.message_id and o.part = 2
    ) is null`
  return new Map(rows.map((row) => [row.place - 1, row]))
}

/** Returns what was told of messages that somebody else has changed between the look and the lock. */
async function storeTogether(
  { db, clock }: ReceiveDeps,
  workspaceId: string,
  keyring: Keyring,
  climbs: readonly Climb[],
): Promise<ToldStatus[]> {
  try {
    const stored = await db.tx((tx) => commitBehind(tx, () => store(tx, keyring, workspaceId, climbs, clock.now())))
    return climbs.flatMap(({ row, told }) => (stored.has(row.message_id) ? [] : told))
  } catch (error) {
    // Who is at fault is found where they are taken one by one.
    if (!isPermanentError(error)) throw error
    return climbs.flatMap(({ told }) => told)
  }
}

/** Returns the messages that were moved up: those that stood in their conversations as they had been seen. */
async function store(
  tx: Tx,
  keyring: Keyring,
  workspaceId: string,
  climbs: readonly Climb[],
  now: Date,
): Promise<Set<string>> {
  announce(tx, recordedTopic, workspaceId)
  // The second statement sees what those have done who held the locks before.
  const [, rows] = await Promise.all([
    holdConversations(
      tx,
      workspaceId,
      climbs.map(({ row }) => row.conversation_id),
    ),
    moveUp(tx, keyring, workspaceId, climbs, now).execute(),
  ])
  return new Set(rows.map(({ id }) => id))
}

function moveUp(tx: Tx, keyring: Keyring, workspaceId: string, climbs: readonly Climb[], now: Date) {
  const workspace = anyWorkspace(tx, workspaceId)
  const told = climbs.flatMap(({ row, events }) => events.map(() => row.message_id))
  const events = climbs.flatMap((one) => one.events)
  const isOfClimbed = tx`(${told}::uuid[])[e.place::integer] in (select id from climbed)`
  return tx<{ id: string }[]>`
    with climbed as (
      update messages m
      set status = n.status,
        error_code = n.error_code
      from unnest(
        ${climbs.map(({ row }) => row.message_id)}::uuid[],
        ${climbs.map(({ row }) => row.conversation_id)}::uuid[],
        ${climbs.map(({ row }) => row.status)}::text[],
        ${climbs.map(({ to }) => to.status)}::text[],
        ${climbs.map(({ to }) => to.errorCode)}::text[]
      ) as n (id, conversation_id, seen, status, error_code)
      where m.workspace_id = ${workspace}
        and m.id = n.id
        and m.conversation_id = n.conversation_id
        and m.status = n.seen
      returning m.id, n.status, n.error_code
    ),
    part as (
      update message_parts p
      set status = c.status,
        error_code = c.error_code
      from climbed c
      where p.workspace_id = ${workspace}
        and p.message_id = c.id
        and p.part = 1
    ),
    event as (${insertEvents(tx, keyring, workspaceId, events, now, isOfClimbed)})
    select id from climbed`
}
