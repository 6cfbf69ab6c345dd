import type { Sql } from '../../base/db.ts'
import { isUuid } from '../../base/id.ts'
import { byteaArray } from '../../base/postgres/values.ts'
import { lockConversations } from '../conversation/batch-queries.ts'
import type { ChangeTx, WorkspaceSql } from '../conversation/conversation.ts'
import { externalIndex } from '../conversation/encrypted-conversation.ts'
import { lockExternalIds } from '../conversation/message-queries.ts'
import { lockConversation, opaqueWorkspaceId } from '../conversation/queries.ts'
import { type PricedStatus, recordCharges } from '../costs/record-charges.ts'
import { advanceMessages, type PartReport } from './advance-send.ts'
import { advanceSettled, type StatusDeps } from './advance-settled.ts'
import { storeEarlyStatuses } from './early-statuses.ts'
import { skipFaulty } from './permanent-errors.ts'
import type { ReceiveDeps, ReceivingConnection, StatusReport } from './receiver.ts'

/**
 * Applies delivery statuses of sent messages of a workspace, found by the correlator sent with them or else by platform
 * id. A status that arrives before its send is settled is stored until then. Each step that a message advances is one
 * event. Then records the prices that some of them report.
 */
export async function receiveStatuses(
  deps: ReceiveDeps,
  workspaceId: string,
  statuses: readonly StatusReport[],
): Promise<void> {
  if (statuses.length === 0) return
  const keyring = await deps.keyStore.keyring(workspaceId)
  const ordered = [...statuses].sort((a, b) => a.event.at.getTime() - b.event.at.getTime())
  const work = { ...deps, keyring, workspaceId }
  const { remaining, priced } = await advanceSettled(work, ordered)
  if (remaining.length > 0) await advanceOthers(work, remaining)
  const unpriced = ordered.filter((report) => !priced.has(report))
  await recordPrices(work, unpriced)
  for (const { receiver, event } of ordered) {
    if (event.status === 'failed' && event.errorCode !== null)
      await deps.onSendRefused(receiver, event.errorCode, event)
  }
}

/** A fault while this runs fails the delivery, which the platform then repeats; nothing is recorded twice. */
async function recordPrices(deps: StatusDeps, statuses: readonly StatusReport[]): Promise<void> {
  const { workspaceId, keyring } = deps
  const priced = statuses.flatMap(({ receiver: { id: connectionId }, event }): PricedStatus[] => {
    const { pricing, externalId } = event
    if (pricing === undefined) return []
    return [{ connectionId, externalIndex: externalIndex(keyring, connectionId, externalId), event, pricing }]
  })
  if (priced.length === 0) return
  const recordSome = (some: readonly PricedStatus[]) => recordCharges(deps, workspaceId, some)
  await skipFaulty(deps.log, priced, recordSome, ({ connectionId }) => ({ workspaceId, connectionId, code: 'charge' }))
}

/** Applies statuses that need the conversation's lock. */
async function advanceOthers(deps: StatusDeps, statuses: readonly StatusReport[]): Promise<void> {
  const { workspaceId } = deps
  const { found, unknown } = await findTargets({ ...deps, sql: deps.db.sql }, statuses)
  await applyTargets(deps, found)
  if (unknown.length === 0) return
  const storeSome = (some: readonly StatusReport[]) => storeUnknown(deps, some)
  const fieldsOf = ({ receiver }: StatusReport) => ({ workspaceId, connectionId: receiver.id, code: 'status' })
  await skipFaulty(deps.log, unknown, storeSome, fieldsOf)
}

interface StatusTarget {
  conversationId: string
  messageId: string
  reports: PartReport[]
}

interface PartRow {
  connection_id: string
  conversation_id: string
  message_id: string
  part: number
  external_index: Buffer | null
}

async function findTargets({ sql, keyring, workspaceId }: WorkspaceSql, statuses: readonly StatusReport[]) {
  const lookups = statuses.map((reports) => ({
    ...reports,
    index: externalIndex(keyring, reports.receiver.id, reports.event.externalId),
    correlator: parseCorrelator(reports.event.correlator),
  }))
  const rows = await selectParts(sql, workspaceId, lookups)
  const byIndex = new Map(rows.map((row) => [row.external_index?.toString('hex'), row]))
  const byPart = new Map(rows.map((row) => [`${row.connection_id} ${row.message_id} ${row.part}`, row]))
  const targets = new Map<string, StatusTarget>()
  const unknown: StatusReport[] = []
  for (const { receiver, event, index, correlator } of lookups) {
    // The digest includes the connection.
    const row =
      byIndex.get(index.toString('hex')) ?? byPart.get(`${receiver.id} ${correlator?.messageId} ${correlator?.part}`)
    if (row === undefined) {
      unknown.push({ receiver, event })
      continue
    }
    const { conversation_id: conversationId, message_id: messageId, part } = row
    const target = targets.get(messageId) ?? { conversationId, messageId, reports: [] }
    targets.set(messageId, target)
    const state = { status: event.status, errorCode: event.status === 'failed' ? event.errorCode : null }
    target.reports.push({ part, state, externalId: event.externalId, at: event.at })
  }
  return { found: [...targets.values()], unknown }
}

interface PartLookup {
  receiver: ReceivingConnection
  index: Buffer
  correlator: { messageId: string } | null
}

/**
 * Finds parts by platform id, including those whose id only their message has, and all parts of the messages named by
 * correlators, each by index.
 */
async function selectParts(sql: Sql, workspaceId: string, lookups: readonly PartLookup[]): Promise<PartRow[]> {
  const workspace = opaqueWorkspaceId(sql, workspaceId)
  const named = lookups.flatMap(({ receiver, correlator: name }) => (name === null ? [] : { receiver, ...name }))
  const ids = sql`
    unnest(
      ${lookups.map(({ receiver }) => receiver.id)}::uuid[],
      ${byteaArray(lookups.map(({ index }) => index))}::bytea[]
    ) as n (connection_id, external_index)`
  return sql<PartRow[]>`
    select p.connection_id, m.conversation_id, p.message_id, p.part, p.external_index
    from (
      select k.*
      from ${ids}
      cross join lateral (
        select connection_id, message_id, part, external_index from message_parts
        where workspace_id = ${workspace} and connection_id = n.connection_id and external_index = n.external_index
        offset 0
      ) as k
      union
      select n.connection_id, k.message_id, k.part, n.external_index
      from ${ids}
      cross join lateral (
        select id from messages
        where workspace_id = ${workspace} and connection_id = n.connection_id and external_index = n.external_index
        offset 0
      ) as sent
      cross join lateral (
        select message_id, part from message_parts
        where workspace_id = ${workspace} and message_id = sent.id and part = 1 and external_index is null
        offset 0
      ) as k
      union
      select k.*
      from unnest(
        ${named.map(({ receiver }) => receiver.id)}::uuid[],
        ${named.map(({ messageId }) => messageId)}::uuid[]
      ) as n (connection_id, message_id)
      cross join lateral (
        select connection_id, message_id, part, external_index from message_parts
        where workspace_id = ${workspace} and message_id = n.message_id and connection_id = n.connection_id
        offset 0
      ) as k
    ) as p
    cross join lateral (
      select conversation_id from messages
      where workspace_id = ${workspace} and id = p.message_id
      offset 0
    ) as m`
}

/** Parses `<message id>:<part>`; null for correlators that are not ours. */
function parseCorrelator(text: string | null): { messageId: string; part: number } | null {
  const [messageId = '', part = '', extra] = text?.split(':') ?? []
  return isUuid(messageId) && /^\d{1,3}$/.test(part) && extra === undefined
    ? { messageId: messageId.toLowerCase(), part: Number(part) }
    : null
}

async function applyTargets(deps: StatusDeps, targets: readonly StatusTarget[]): Promise<void> {
  if (targets.length === 0) return
  const { workspaceId, keyring } = deps
  const apply = async (some: readonly StatusTarget[]) => {
    const moved = await deps.db.tx((tx) => advance({ tx, keyring, workspaceId, now: deps.clock.now() }, some))
    for (const target of moved) {
      await deps.db.tx((tx) => advanceMoved({ tx, keyring, workspaceId, now: deps.clock.now() }, target))
    }
  }
  await skipFaulty(deps.log, targets, apply, ({ messageId }) => ({ workspaceId, messageId, code: 'status' }))
}

/** Returns the targets whose conversation was merged into another. */
async function advance(work: ChangeTx, targets: readonly StatusTarget[]): Promise<StatusTarget[]> {
  const { tx, workspaceId } = work
  const conversationIds = [...new Set(targets.map(({ conversationId }) => conversationId))]
  const locked = new Map((await lockConversations(tx, workspaceId, conversationIds)).map((one) => [one.id, one]))
  const advances = targets.flatMap(({ conversationId, messageId, reports }) => {
    const conversation = locked.get(conversationId)
    return conversation === undefined ? [] : { conversation, messageId, reports }
  })
  if (advances.length > 0) await advanceMessages(work, advances)
  return targets.filter(({ conversationId }) => !locked.has(conversationId))
}

/** Applies reports to a message whose conversation was merged between read and lock. */
async function advanceMoved(work: ChangeTx, target: StatusTarget): Promise<void> {
  const scope = { workspaceId: work.workspaceId, connectionIds: [] }
  const conversation = await lockConversation(work, scope, target.conversationId)
  if (conversation !== undefined) await advanceMessages(work, [{ ...target, conversation }])
}

/** Looks up again under the lock of each id: the send may have been settled since. */
async function storeUnknown(deps: StatusDeps, statuses: readonly StatusReport[]): Promise<void> {
  const { workspaceId, keyring } = deps
  const now = deps.clock.now()
  const settled = await deps.db.tx(async (tx) => {
    await lockExternalIds(
      tx,
      statuses.map(({ receiver, event }) => externalIndex(keyring, receiver.id, event.externalId)),
    )
    const { found, unknown } = await findTargets({ sql: tx, keyring, workspaceId }, statuses)
    await storeEarlyStatuses({ tx, keyring, workspaceId, now }, unknown)
    return found
  })
  await applyTargets(deps, settled)
}
