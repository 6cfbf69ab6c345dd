import { pipelineCommit, publish } from '../../base/db.ts'
import { unnested } from '../../base/postgres/rows.ts'
import { byteaArray } from '../../base/postgres/values.ts'
import { insertEvents, type NewEvent, recordedTopic } from '../../events/record.ts'
import { waitForConversationLocks } from '../conversation/batch-queries.ts'
import { messageStatusChanged } from '../conversation/change.ts'
import type { ChangeTx, WorkspaceSql } from '../conversation/conversation.ts'
import { externalIndex } from '../conversation/encrypted-conversation.ts'
import { type DeliveryState, type MessageStatus, nextState } from '../conversation/message.ts'
import { opaqueWorkspaceId } from '../conversation/queries.ts'
import { chargedColumns, insertCharges, type MessagePrices } from '../costs/record-charges.ts'
import { isPermanentError } from './permanent-errors.ts'
import type { ReceiveDeps, StatusReport } from './receiver.ts'

// Fast path: nearly all statuses report that a settled message in one part was delivered or read. For these nothing
// needs to be decrypted, only the event is encrypted, and the decision is made before the lock and stored if it still
// holds. The part keeps its state; only the message is read after the send.

/** Maximum number of messages locked by one transaction. */
const maxMessages = 500

/** For the statuses of one workspace. */
export type StatusDeps = ReceiveDeps & Pick<WorkspaceSql, 'keyring' | 'workspaceId'>

export interface SettledStatuses {
  /**
   * Statuses that could not be applied: of pending or failed messages, reports of failure, messages in several parts,
   * unknown ids, and messages changed concurrently.
   */
  remaining: StatusReport[]
  /** Statuses whose prices have been recorded, if they report any. */
  priced: ReadonlySet<StatusReport>
}

/** Applies statuses of settled messages, oldest first, and records the prices that they report. */
export async function advanceSettled(deps: StatusDeps, statuses: readonly StatusReport[]): Promise<SettledStatuses> {
  const reports = [...Map.groupBy(statuses, ({ receiver, event }) => `${receiver.id} ${event.externalId}`).values()]
  const found = await findSettled({ ...deps, sql: deps.db.sql }, reports)
  const remaining: StatusReport[] = []
  const priced = new Set<StatusReport>()
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
    const batch = effective.slice(at, at + maxMessages)
    const stored = await storeBatch(deps, batch)
    for (const { row, reports: messageReports } of batch) {
      if (!stored.has(row.id)) remaining.push(...messageReports)
      else for (const report of messageReports) priced.add(report)
    }
  }
  return { remaining, priced }
}

interface SettledRow {
  place: number
  id: string
  conversation_id: string
  status: Exclude<MessageStatus, 'pending' | 'failed'>
  /** Content of a template's message sent here; null for others. Read only if one of the reports has a price. */
  template?: Buffer | null
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
async function findSettled({ sql, keyring, workspaceId }: WorkspaceSql, reports: readonly (readonly StatusReport[])[]) {
  const ids = reports.flatMap(([first]) => first ?? [])
  const indexes = ids.map(({ receiver, event }) => externalIndex(keyring, receiver.id, event.externalId))
  const isPriced = reports.some((some) => some.some(({ event }) => event.pricing !== undefined))
  const template = isPriced
    ? sql`, case when kind = 'template' and origin = 'live' then content end as template`
    : sql``
  const workspace = opaqueWorkspaceId(sql, workspaceId)
  // `(select …)` hides the number of ids from the planner, which would otherwise plan again for each callback.
  const rows = await sql<SettledRow[]>`
    select n.place::integer, m.*
    from unnest(
      (select ${ids.map(({ receiver }) => receiver.id)}::uuid[]),
      ${byteaArray(indexes)}::bytea[]
    ) with ordinality as n (connection_id, external_index, place)
    cross join lateral (
      select id, conversation_id, status${template}
      from messages
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

/** Returns the ids of the messages that were updated: others changed the rest between read and lock. */
async function storeBatch({ db, clock, workspaceId, keyring }: StatusDeps, advances: readonly StatusAdvance[]) {
  try {
    return await db.tx((tx) =>
      pipelineCommit(tx, () => store({ tx, keyring, workspaceId, now: clock.now() }, advances)),
    )
  } catch (error) {
    // They are applied one by one afterwards, which isolates the faulty one.
    if (!isPermanentError(error)) throw error
    return new Set<string>()
  }
}

async function store(work: ChangeTx, advances: readonly StatusAdvance[]): Promise<Set<string>> {
  const { tx, workspaceId } = work
  publish(tx, recordedTopic, workspaceId)
  const conversationIds = advances.map(({ row }) => row.conversation_id)
  // The second statement sees the changes of transactions that held the locks before.
  const [, rows] = await Promise.all([
    waitForConversationLocks(tx, workspaceId, conversationIds),
    updateStatuses(work, advances).execute(),
  ])
  return new Set(rows.map(({ id }) => id))
}

function updateStatuses({ tx, keyring, workspaceId, now }: ChangeTx, advances: readonly StatusAdvance[]) {
  const rows = advances.map(({ row, steps }) => {
    const { id, conversation_id, status: seen } = row
    return { id, conversation_id, seen, status: steps.at(-1)?.to.status ?? seen }
  })
  const steppingIds = advances.flatMap(({ row, steps }) => steps.map(() => row.id))
  const isUpdated = tx`(${steppingIds}::uuid[])[n.place + 1] in (select id from climbed)`
  const prices = advances.flatMap(pricesOf)
  const isPriced = prices.length > 0
  const charged = isPriced ? tx`, charged as (${insertCharges(tx, keyring, workspaceId, prices)})` : tx``
  return tx<{ id: string }[]>`
    with climbed as (
      update messages m
      set status = n.status
      from ${unnested(rows, { uuid: ['id', 'conversation_id'], text: ['seen', 'status'] })}
      where m.workspace_id = ${opaqueWorkspaceId(tx, workspaceId)}
        and m.id = n.id
        and m.conversation_id = n.conversation_id
        and m.status = n.seen
      returning m.id${isPriced ? tx`, ${chargedColumns}` : tx``}
    ),
    event as (${insertEvents(tx, keyring, workspaceId, advances.flatMap(eventsOf), now, isUpdated)})${charged}
    select id from climbed`
}

function eventsOf({ row, reports, steps }: StatusAdvance): NewEvent[] {
  const conversation = { id: row.conversation_id, connectionId: connectionOf(reports) }
  return steps.map(({ to, at }) => messageStatusChanged(conversation, row.id, to, at))
}

/** The reports about a message come from one connection. */
const connectionOf = ([first]: readonly StatusReport[]): string => first?.receiver.id ?? ''

function pricesOf({ row, reports }: StatusAdvance): MessagePrices[] {
  const priced = reports.flatMap(({ event }) => {
    const { pricing } = event
    return pricing === undefined ? [] : [{ event, pricing }]
  })
  return priced.length === 0 ? [] : [{ messageId: row.id, reports: priced, template: row.template ?? null }]
}
