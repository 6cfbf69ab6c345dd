import { announce, commitBehind } from '../../base/db.ts'
import { unnested } from '../../base/postgres/rows.ts'
import { byteaArray } from '../../base/postgres/values.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import { insertEvents, type NewEvent, recordedTopic } from '../../events/record.ts'
import { messageStatusChanged } from '../conversation/change.ts'
import type { ChangeTx, WorkspaceSql } from '../conversation/conversation.ts'
import { holdConversations } from '../conversation/many-queries.ts'
import { climb, type MessageStatus, type Rung } from '../conversation/message.ts'
import { anyWorkspace } from '../conversation/queries.ts'
import { externalIndex } from '../conversation/sealed.ts'
import { isPermanentError } from './permanent-errors.ts'
import type { ReceiveDeps, ToldStatus } from './receiver.ts'

// Nearly all statuses say that a message in one part, whose send is settled, was delivered or read. For those nothing has
// to be opened, nothing sealed but the event, and what is decided before the lock is stored where it still holds. The part
// stays where the send has left it: beyond that only the message is asked how far it has come.

/** How many messages one transaction locks at most. */
const maxMessages = 500

/**
 * Applies what is told of settled messages, oldest first, and returns what it has not: of messages that wait for their
 * outcome, that have failed or are told to have, that are in parts or known by no id yet, and of those that somebody else
 * changed meanwhile.
 */
export async function advanceSettled(
  deps: ReceiveDeps,
  workspaceId: string,
  keyring: Keyring,
  statuses: readonly ToldStatus[],
): Promise<ToldStatus[]> {
  const told = [...Map.groupBy(statuses, ({ receiver, event }) => `${receiver.id} ${event.externalId}`).values()]
  const found = await findSettled({ sql: deps.db.sql, keyring, workspaceId }, told)
  const left: ToldStatus[] = []
  const climbs: Climb[] = []
  for (const [n, ofOne] of told.entries()) {
    const row = found.get(n)
    if (row === undefined || ofOne.some(({ event }) => event.status === 'failed')) left.push(...ofOne)
    else climbs.push({ row, told: ofOne, steps: stepsOf(row, ofOne) })
  }
  // Who stands higher already always will.
  const real = climbs.filter(({ steps }) => steps.length > 0)
  for (let at = 0; at < real.length; at += maxMessages) {
    left.push(...(await storeTogether(deps, workspaceId, keyring, real.slice(at, at + maxMessages))))
  }
  return left
}

interface SettledRow {
  place: number
  connection_id: string
  id: string
  conversation_id: string
  status: Exclude<MessageStatus, 'pending' | 'failed'>
}

/** A message as it was seen, and the steps that it takes by what was told. */
interface Climb {
  row: SettledRow
  told: readonly ToldStatus[]
  steps: Step[]
}

interface Step {
  to: Rung
  at: Date
}

function stepsOf(row: SettledRow, told: readonly ToldStatus[]): Step[] {
  const steps: Step[] = []
  let from: Rung = { status: row.status, errorCode: null }
  for (const { event } of told) {
    const to = climb(from, { status: event.status, errorCode: null })
    if (to === null) continue
    steps.push({ to, at: event.at })
    from = to
  }
  return steps
}

/** Messages in one part, settled and not failed, by the platform's ids, each by its index. */
async function findSettled(
  { sql, keyring, workspaceId }: WorkspaceSql,
  told: readonly (readonly ToldStatus[])[],
): Promise<Map<number, SettledRow>> {
  const ids = told.flatMap(([first]) => first ?? [])
  const workspace = anyWorkspace(sql, workspaceId)
  const rows = await sql<SettledRow[]>`
    select n.place::integer, n.connection_id, m.id, m.conversation_id, m.status
    from unnest(
      ${ids.map(({ receiver }) => receiver.id)}::uuid[],
      ${byteaArray(ids.map(({ receiver, event }) => externalIndex(keyring, receiver.id, event.externalId)))}::bytea[]
    ) with ordinality as n (connection_id, external_index, place)
    cross join lateral (
      select id, conversation_id, status from messages
      where workspace_id = ${workspace}
        and connection_id = n.connection_id
        and external_index = n.external_index
        and status in ('sent', 'delivered', 'read')
        and direction = 'outbound'
        and origin in ('live', 'echo')
      offset 0
    ) as m
    where (
      select count(*) from message_parts p
      where p.workspace_id = ${workspace} and p.message_id = m.id
    ) = 1`
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
    const stored = await db.tx((tx) =>
      commitBehind(tx, () => store({ tx, keyring, workspaceId, now: clock.now() }, climbs)),
    )
    return climbs.flatMap(({ row, told }) => (stored.has(row.id) ? [] : told))
  } catch (error) {
    // Who is at fault is found where they are taken one by one.
    if (!isPermanentError(error)) throw error
    return climbs.flatMap(({ told }) => told)
  }
}

/** Returns the messages that were moved up: those that stood in their conversations as they had been seen. */
async function store(work: ChangeTx, climbs: readonly Climb[]): Promise<Set<string>> {
  const { tx, workspaceId } = work
  announce(tx, recordedTopic, workspaceId)
  // The second statement sees what those have done who held the locks before.
  const [, rows] = await Promise.all([
    holdConversations(
      tx,
      workspaceId,
      climbs.map(({ row }) => row.conversation_id),
    ),
    moveUp(work, climbs).execute(),
  ])
  return new Set(rows.map(({ id }) => id))
}

function moveUp({ tx, keyring, workspaceId, now }: ChangeTx, climbs: readonly Climb[]) {
  const rows = climbs.map(({ row, steps }) => {
    return { ...row, seen: row.status, status: steps.at(-1)?.to.status ?? row.status }
  })
  const stepping = climbs.flatMap(({ row, steps }) => steps.map(() => row.id))
  const isOfClimbed = tx`(${stepping}::uuid[])[n.place + 1] in (select id from climbed)`
  return tx<{ id: string }[]>`
    with climbed as (
      update messages m
      set status = n.status
      from ${unnested(rows, { uuid: ['id', 'conversation_id'], text: ['seen', 'status'] })}
      where m.workspace_id = ${anyWorkspace(tx, workspaceId)}
        and m.id = n.id
        and m.conversation_id = n.conversation_id
        and m.status = n.seen
      returning m.id
    ),
    event as (${insertEvents(tx, keyring, workspaceId, climbs.flatMap(eventsOf), now, isOfClimbed)})
    select id from climbed`
}

function eventsOf({ row, steps }: Climb): NewEvent[] {
  const conversation = { id: row.conversation_id, connectionId: row.connection_id }
  return steps.map(({ to, at }) => messageStatusChanged(conversation, row.id, to, at))
}
