import { byteaArray, type Sql, type Tx } from '../../base/db.ts'
import { isUuid } from '../../base/id.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import { lockConversations } from '../conversation/many-queries.ts'
import { lockConversation } from '../conversation/queries.ts'
import { externalIndex } from '../conversation/sealed.ts'
import { advanceMessages, type PartReport } from './advance-send.ts'
import { lockExternalIds, storeEarlyStatuses } from './early-statuses.ts'
import type { StatusEvent } from './group-events.ts'
import { isPermanentError } from './permanent-errors.ts'
import type { ReceiveDeps, Receiver } from './receiver.ts'

/**
 * Applies what the platform tells of messages sent: by the correlator that travelled with them, else by the platform's
 * id. What overtook the answer of its own send is parked until that is settled. Several statuses of one message make
 * one event for each step that they really climb.
 */
export async function receiveStatuses(
  deps: ReceiveDeps,
  receiver: Receiver,
  statuses: readonly StatusEvent[],
): Promise<void> {
  if (statuses.length === 0) return
  const keyring = await deps.vault.keyring(receiver.workspaceId)
  const ordered = [...statuses].sort((a, b) => a.at.getTime() - b.at.getTime())
  const { found, unknown } = await findTargets(deps.db.sql, keyring, receiver, ordered)
  await applyTargets(deps, receiver, keyring, found)
  if (unknown.length > 0) await parkUnknown(deps, receiver, keyring, unknown)
  for (const { status, errorCode } of ordered) {
    if (status === 'failed' && errorCode !== null) await deps.sendRefused(receiver, errorCode)
  }
}

interface Target {
  conversationId: string
  messageId: string
  reports: PartReport[]
}

interface PartRow {
  conversation_id: string
  message_id: string
  part: number
  external_index: Buffer | null
}

interface Targets {
  found: Target[]
  unknown: StatusEvent[]
}

async function findTargets(
  sql: Sql,
  keyring: Keyring,
  receiver: Receiver,
  statuses: readonly StatusEvent[],
): Promise<Targets> {
  const indexOf = (status: StatusEvent) => externalIndex(keyring, receiver.id, status.externalId)
  const parts = await selectParts(
    sql,
    receiver,
    statuses.map(indexOf),
    statuses.flatMap(({ correlator }) => readCorrelator(correlator)?.messageId ?? []),
  )
  const targets = new Map<string, Target>()
  const unknown: StatusEvent[] = []
  for (const status of statuses) {
    const named = readCorrelator(status.correlator)
    const index = indexOf(status)
    const row =
      parts.find((each) => each.external_index?.equals(index)) ??
      parts.find((each) => each.message_id === named?.messageId && each.part === named.part)
    if (row === undefined) {
      unknown.push(status)
      continue
    }
    const { conversation_id: conversationId, message_id: messageId, part } = row
    const target = targets.get(messageId) ?? { conversationId, messageId, reports: [] }
    targets.set(messageId, target)
    const rung = { status: status.status, errorCode: status.status === 'failed' ? status.errorCode : null }
    target.reports.push({ part, rung, externalId: status.externalId, at: status.at })
  }
  return { found: [...targets.values()], unknown }
}

async function selectParts(
  sql: Sql,
  { workspaceId, id: connectionId }: Receiver,
  indexes: readonly Buffer[],
  messageIds: readonly string[],
): Promise<PartRow[]> {
  return sql<PartRow[]>`
    select m.conversation_id, p.message_id, p.part, p.external_index
    from message_parts p
    join messages m on m.workspace_id = p.workspace_id and m.id = p.message_id
    where p.workspace_id = ${workspaceId}
      and p.connection_id = ${connectionId}
      and p.external_index = any (${byteaArray(sql, indexes)}::bytea[])
    union
    select m.conversation_id, p.message_id, p.part, p.external_index
    from message_parts p
    join messages m on m.workspace_id = p.workspace_id and m.id = p.message_id
    where p.workspace_id = ${workspaceId}
      and p.connection_id = ${connectionId}
      and p.message_id = any (${[...messageIds]}::uuid[])`
}

/** `<message id>:<part>`; null for anything that did not come from us. */
export function readCorrelator(text: string | null): { messageId: string; part: number } | null {
  const [messageId = '', part = '', extra] = text?.split(':') ?? []
  return isUuid(messageId) && /^\d{1,3}$/.test(part) && extra === undefined
    ? { messageId: messageId.toLowerCase(), part: Number(part) }
    : null
}

/** All of them in one transaction; one by one where that fails, so that none is held up by another. */
async function applyTargets(
  deps: ReceiveDeps,
  receiver: Receiver,
  keyring: Keyring,
  targets: readonly Target[],
): Promise<void> {
  if (targets.length === 0) return
  const { workspaceId } = receiver
  try {
    const moved = await deps.db.tx((tx: Tx) => advance(tx, keyring, workspaceId, targets, deps.clock.now()))
    for (const target of moved) {
      await deps.db.tx((tx: Tx) => advanceMoved(tx, keyring, workspaceId, target, deps.clock.now()))
    }
  } catch (error) {
    if (!isPermanentError(error)) throw error
    const [target, another] = targets
    if (another !== undefined) {
      for (const each of targets) await applyTargets(deps, receiver, keyring, [each])
      return
    }
    const fields = { workspaceId, connectionId: receiver.id, messageId: target?.messageId, code: 'status' }
    deps.log.error('inbound item passed over', fields, error)
  }
}

/** Returns the targets whose conversation is another one by now. */
async function advance(
  tx: Tx,
  keyring: Keyring,
  workspaceId: string,
  targets: readonly Target[],
  now: Date,
): Promise<Target[]> {
  const conversationIds = [...new Set(targets.map(({ conversationId }) => conversationId))]
  const locked = new Map((await lockConversations(tx, workspaceId, conversationIds)).map((one) => [one.id, one]))
  const advances = targets.flatMap(({ conversationId, messageId, reports }) => {
    const conversation = locked.get(conversationId)
    return conversation === undefined ? [] : { conversation, messageId, reports }
  })
  if (advances.length > 0) await advanceMessages(tx, keyring, workspaceId, advances, now)
  return targets.filter(({ conversationId }) => !locked.has(conversationId))
}

/** The same for a message that was merged into another conversation between the look and the lock. */
async function advanceMoved(tx: Tx, keyring: Keyring, workspaceId: string, target: Target, now: Date): Promise<void> {
  const scope = { workspaceId, connectionIds: [] }
  const conversation = await lockConversation(tx, keyring, scope, target.conversationId)
  if (conversation !== undefined) await advanceMessages(tx, keyring, workspaceId, [{ ...target, conversation }], now)
}

/** Looks once more under the lock of each id: its send may have been settled since. */
async function parkUnknown(
  deps: ReceiveDeps,
  receiver: Receiver,
  keyring: Keyring,
  statuses: readonly StatusEvent[],
): Promise<void> {
  const now = deps.clock.now()
  const settled = await deps.db.tx(async (tx) => {
    await lockExternalIds(
      tx,
      statuses.map((status) => externalIndex(keyring, receiver.id, status.externalId)),
    )
    const { found, unknown } = await findTargets(tx, keyring, receiver, statuses)
    await storeEarlyStatuses(tx, keyring, receiver, unknown, now)
    return found
  })
  await applyTargets(deps, receiver, keyring, settled)
}
