import { pipelineCommit, publish } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { unnested } from '../../base/postgres/rows.ts'
import { byteaArray } from '../../base/postgres/values.ts'
import { insertEvents, type NewEvent, recordedTopic } from '../../events/record.ts'
import { waitForConversationLocks } from '../conversation/batch-queries.ts'
import { messageStatusChanged } from '../conversation/change.ts'
import type { ChangeTx, WorkspaceSql } from '../conversation/conversation.ts'
import { externalIndex } from '../conversation/encrypted-conversation.ts'
import { type DeliveryState, type MessageStatus, nextState } from '../conversation/message.ts'
import { opaqueWorkspaceId } from '../conversation/queries.ts'
import { isPermanentError } from './permanent-errors.ts'
import type { ReceiveDeps, StatusReport } from './receiver.ts'

// Fast path: nearly all statuses report that a settled message in one part was delivered or read. For these nothing
// needs to be decrypted, only the event is encrypted, and the decision is made before the lock and stored if it still
// holds. The part keeps its state; only the message is read after the send.

/** Maximum number of messages locked by one transaction. */
const maxMessages = 500

/**
 * Applies statuses of settled messages, oldest first, and returns those that it cannot apply: of pending or failed
 * messages, reports of failure, messages in several parts, unknown ids, and messages changed concurrently.
 */
export async function advanceSettled(
  deps: ReceiveDeps,
  workspaceId: string,
  keyring: Keyring,
  statuses: readonly StatusReport[],
): Promise<StatusReport[]> {
  const reports = [...Map.groupBy(statuses, ({ receiver, event }) => `${receiver.id} ${event.externalId}`).values()]
  const found = await findSettled({ sql: deps.db.sql, keyring, workspaceId }, reports)
  const remaining: StatusReport[] = []
  const advances: StatusAdvance[] = []
  for (const [n, messageReports] of reports.entries()) {
    const row = found.get(n)
    if (row === undefined || messageReports.some(({ event }) => event.status === 'failed'))
      remaining.push(...messageReports)
    else advances.push({ row, reports: messageReports, steps: stepsOf(row, messageReports) })
  }
  // Drops statuses that change nothing: states never go back.
  const effective = advances.filter(({ steps }) => steps.length > 0)
  for (let at = 0; at < effective.length; at += maxMessages) {
    remaining.push(...(await storeBatch(deps, workspaceId, keyring, effective.slice(at, at + maxMessages))))
  }
  return remaining
}

interface SettledRow {
  place: number
  connection_id: string
  id: string
  conversation_id: string
  status: Exclude<MessageStatus, 'pending' | 'failed'>
}

/** A message as read, and the steps that the reports cause. */
interface StatusAdvance {
  row: SettledRow
  reports: readonly StatusReport[]
  steps: Step[]
}

interface Step {
  to: DeliveryState
  at: Date
}

function stepsOf(row: SettledRow, reports: readonly StatusReport[]): Step[] {
  const steps: Step[] = []
  let from: DeliveryState = { status: row.status, errorCode: null }
  for (const { event } of reports) {
    const to = nextState(from, { status: event.status, errorCode: null })
    if (to === null) continue
    steps.push({ to, at: event.at })
    from = to
  }
  return steps
}

/** Finds settled, not failed messages in one part by platform id, keyed by the index of the report. */
async function findSettled(
  { sql, keyring, workspaceId }: WorkspaceSql,
  reports: readonly (readonly StatusReport[])[],
): Promise<Map<number, SettledRow>> {
  const ids = reports.flatMap(([first]) => first ?? [])
  const workspace = opaqueWorkspaceId(sql, workspaceId)
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

/** Returns the reports of messages that others changed between read and lock. */
async function storeBatch(
  { db, clock }: ReceiveDeps,
  workspaceId: string,
  keyring: Keyring,
  advances: readonly StatusAdvance[],
): Promise<StatusReport[]> {
  try {
    const stored = await db.tx((tx) =>
      pipelineCommit(tx, () => store({ tx, keyring, workspaceId, now: clock.now() }, advances)),
    )
    return advances.flatMap(({ row, reports }) => (stored.has(row.id) ? [] : reports))
  } catch (error) {
    // They are applied one by one afterwards, which isolates the faulty one.
    if (!isPermanentError(error)) throw error
    return advances.flatMap(({ reports }) => reports)
  }
}

/** Returns the ids of the messages that were updated because they had not changed since the read. */
async function store(work: ChangeTx, advances: readonly StatusAdvance[]): Promise<Set<string>> {
  const { tx, workspaceId } = work
  publish(tx, recordedTopic, workspaceId)
  // The second statement sees the changes of transactions that held the locks before.
  const [, rows] = await Promise.all([
    waitForConversationLocks(
      tx,
      workspaceId,
      advances.map(({ row }) => row.conversation_id),
    ),
    updateStatuses(work, advances).execute(),
  ])
  return new Set(rows.map(({ id }) => id))
}

function updateStatuses({ tx, keyring, workspaceId, now }: ChangeTx, advances: readonly StatusAdvance[]) {
  const rows = advances.map(({ row, steps }) => {
    return { ...row, seen: row.status, status: steps.at(-1)?.to.status ?? row.status }
  })
  const steppingIds = advances.flatMap(({ row, steps }) => steps.map(() => row.id))
  const isUpdated = tx`(${steppingIds}::uuid[])[n.place + 1] in (select id from climbed)`
  return tx<{ id: string }[]>`
    with climbed as (
      update messages m
      set status = n.status
      from ${unnested(rows, { uuid: ['id', 'conversation_id'], text: ['seen', 'status'] })}
      where m.workspace_id = ${opaqueWorkspaceId(tx, workspaceId)}
        and m.id = n.id
        and m.conversation_id = n.conversation_id
        and m.status = n.seen
      returning m.id
    ),
    event as (${insertEvents(tx, keyring, workspaceId, advances.flatMap(eventsOf), now, isUpdated)})
    select id from climbed`
}

function eventsOf({ row, steps }: StatusAdvance): NewEvent[] {
  const conversation = { id: row.conversation_id, connectionId: row.connection_id }
  return steps.map(({ to, at }) => messageStatusChanged(conversation, row.id, to, at))
}
