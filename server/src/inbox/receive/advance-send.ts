import type { Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { unnested } from '../../base/postgres/rows.ts'
import { type NewEvent, recordEvents } from '../../events/record.ts'
import { messageSent, messageStatusChanged } from '../conversation/change.ts'
import type { ChangeTx, Conversation, WorkspaceTx } from '../conversation/conversation.ts'
import { externalIndex } from '../conversation/encrypted-conversation.ts'
import {
  combineParts,
  type DeliveryState,
  decryptMessage,
  encryptExternalId,
  type Message,
  type MessageRow,
  nextState,
} from '../conversation/message.ts'
import { messageColumns } from '../conversation/message-queries.ts'
import { opaqueWorkspaceId } from '../conversation/queries.ts'
import { type FailedPart, markUndelivered } from '../costs/record-charges.ts'

/** Delivery report of one part of a send. */
export interface PartReport {
  part: number
  state: DeliveryState
  /** Platform id of the part, if the report contains it. */
  externalId: string | null
  /** Platform time of the change. */
  at: Date
}

/** Reports of a message, with its locked conversation. */
export interface MessageReports {
  conversation: AdvancedConversation
  messageId: string
  /** In chronological order. */
  reports: readonly PartReport[]
}

type AdvancedConversation = Pick<Conversation, 'id' | 'connectionId' | 'channel' | 'owner'>

/** A part of a send with its delivery state. */
export interface Part extends DeliveryState {
  messageId: string
  part: number
  externalIndex: Buffer | null
}

/** A sent message with its locked parts in order. */
export interface SentMessage {
  before: Message
  parts: readonly Part[]
}

/** Platform id of a message, encrypted, and its digest unless another message has it. */
interface EncryptedId {
  sealed: Buffer
  index: Buffer | null
}

/** A changed message, with its platform id if that is new. */
interface MessageProgress {
  message: Message
  newId: EncryptedId | null
}

/**
 * Advances the states of sends by reports about their parts, under the conversations' locks. Each change of a message
 * records one event: `inbox.message.sent` when it leaves `pending`, which settles its send, and `inbox.message.status`
 * for every state after `sent`. Ignores history messages and echoes without parts.
 */
export async function advanceMessages(work: ChangeTx, advances: readonly MessageReports[]): Promise<void> {
  const { tx, keyring, workspaceId, now } = work
  const ids = advances.map(({ messageId }) => messageId)
  const sent = await lockSentMessages(work, ids)
  const advanced = advances.flatMap((advance) => {
    const one = sent.get(advance.messageId)
    return one === undefined ? [] : applyReports(keyring, one, advance)
  })
  const changed = advanced.filter((one) => one.before !== one.message)
  const states = changed.map((one) => ({ ...one, newId: newIdOf(keyring, one) }))
  const parts = advanced.flatMap((one) => one.parts)
  const events = advanced.flatMap((one) => one.events)
  const failures = advanced.flatMap((one) => one.failures)
  await Promise.all([
    storeParts(tx, workspaceId, parts),
    storeMessageStates(tx, workspaceId, states),
    recordEvents(tx, keyring, workspaceId, events, now),
    markUndelivered(tx, workspaceId, failures),
  ])
}

interface AdvancedMessage {
  before: Message
  message: Message
  /** Changed parts only. */
  parts: Part[]
  /** Parts that have failed since: the platform charges only for what it delivers. */
  failures: FailedPart[]
  events: NewEvent[]
}

function applyReports(
  keyring: Keyring,
  { before, parts: sent }: SentMessage,
  { conversation, reports }: MessageReports,
): AdvancedMessage {
  const known = withMessageState(before, sent)
  let message = before
  let parts = known
  const events: NewEvent[] = []
  for (const report of reports) {
    parts = parts.map((part) => (part.part === report.part ? advancePart(keyring, message, part, report) : part))
    message = withExternalId(message, parts, report)
    const advancedState = nextState(message, combineParts(parts))
    if (advancedState === null) continue
    const last = message
    message = { ...message, ...advancedState, settleBy: null }
    events.push(...eventsOf(conversation, last, message, report.at))
  }
  const changed = parts.filter((part, n) => part !== known[n])
  return { before, message, parts: changed, failures: failuresOf(before, known, changed), events }
}

function failuresOf({ connectionId }: Message, known: readonly Part[], changed: readonly Part[]): FailedPart[] {
  const failedBefore = new Set(known.flatMap(({ part, status }) => (status === 'failed' ? part : [])))
  return changed.flatMap(({ part, status, externalIndex }) =>
    externalIndex !== null && status === 'failed' && !failedBefore.has(part) ? { connectionId, externalIndex } : [],
  )
}

/** Brings a single part up to its message: `storeAccepted` and `advanceSettled` update only the message. */
function withMessageState({ status }: Message, parts: readonly Part[]): readonly Part[] {
  const isAhead = status === 'sent' || status === 'delivered' || status === 'read'
  return parts.length === 1 && isAhead ? parts.map((part) => ({ ...part, status, errorCode: null })) : parts
}

// A status may overtake the platform's response. The sender still gets `sent`, so the first event says `sent` and the
// reported status follows as an event of its own.
function eventsOf(conversation: AdvancedConversation, before: Message, after: Message, at: Date): NewEvent[] {
  const statusChanged = messageStatusChanged(conversation, after.id, after, at)
  if (before.status !== 'pending') return [statusChanged]
  if (after.status === 'sent' || after.status === 'failed') return [messageSent(conversation, after)]
  return [messageSent(conversation, { ...after, status: 'sent' }), statusChanged]
}

function advancePart(keyring: Keyring, { connectionId }: Message, part: Part, { state, externalId }: PartReport): Part {
  const next = nextState(part, state)
  const hasNewId = part.externalIndex === null && externalId !== null
  if (next === null && !hasNewId) return part
  return { ...part, ...next, ...(hasNewId && { externalIndex: externalIndex(keyring, connectionId, externalId) }) }
}

/** Uses the platform id of the first part as the id of the message. */
function withExternalId(message: Message, parts: readonly Part[], { part, externalId }: PartReport): Message {
  if (message.externalId !== null || externalId === null || parts[0]?.part !== part) return message
  return { ...message, externalId }
}

function newIdOf(keyring: Keyring, { before, message: { id, connectionId, externalId } }: AdvancedMessage) {
  if (externalId === null || before.externalId !== null) return null
  return { sealed: encryptExternalId(keyring, id, externalId), index: externalIndex(keyring, connectionId, externalId) }
}

/** Requires the conversations' locks. Also locks the parts, which a running send updates without them. */
export async function lockSentMessages(work: WorkspaceTx, ids: readonly string[]): Promise<Map<string, SentMessage>> {
  const { tx, keyring, workspaceId } = work
  const workspace = opaqueWorkspaceId(tx, workspaceId)
  const [rows, parts] = await Promise.all([
    tx<MessageRow[]>`
      select ${messageColumns(tx)}
      from messages m
      where m.workspace_id = ${workspace}
        and m.id = any (${[...ids]}::uuid[])
        and m.direction = 'outbound'
        and m.origin in ('live', 'echo')`,
    tx<Part[]>`
      select message_id as "messageId", part, status, error_code as "errorCode", external_index as "externalIndex"
      from message_parts
      where workspace_id = ${workspace}
        and message_id = any (${[...ids]}::uuid[])
      order by message_id, part
      for update`,
  ])
  const partsOf = Map.groupBy(parts, ({ messageId }) => messageId)
  return new Map(
    rows.map((row) => [row.id, { before: decryptMessage(keyring, row), parts: partsOf.get(row.id) ?? [] }]),
  )
}

export async function storeParts(tx: Tx, workspaceId: string, parts: readonly Part[]): Promise<void> {
  if (parts.length === 0) return
  await tx`
    update message_parts p
    set status = n.status,
      error_code = n.error_code,
      external_index = n.external_index
    from ${unnested(parts, {
      uuid: ['messageId'],
      integer: ['part'],
      text: ['status', 'errorCode'],
      bytea: ['externalIndex'],
    })}
    where p.workspace_id = ${opaqueWorkspaceId(tx, workspaceId)}
      and p.message_id = n.message_id
      and p.part = n.part`.execute()
}

/** Stores the states and platform ids of messages. */
export async function storeMessageStates(
  tx: Tx,
  workspaceId: string,
  changed: readonly MessageProgress[],
): Promise<void> {
  if (changed.length === 0) return
  const rows = changed.map(({ message, newId }) => {
    return { ...message, externalId: newId?.sealed ?? null, externalIndex: newId?.index ?? null }
  })
  const workspace = opaqueWorkspaceId(tx, workspaceId)
  // An echo may have stored the same platform id first: then only the parts keep it, where statuses are looked up too.
  await tx`
    update messages m
    set status = n.status,
      error_code = n.error_code,
      settle_by = n.settle_by,
      external_id = coalesce(m.external_id, n.external_id),
      external_index = coalesce(m.external_index, (
        select n.external_index
        where not exists (
          select 1
          from messages other
          where other.workspace_id = ${workspace}
            and other.connection_id = m.connection_id
            and other.external_index = n.external_index
        )
      ))
    from ${unnested(rows, {
      uuid: ['id'],
      text: ['status', 'errorCode'],
      timestamptz: ['settleBy'],
      bytea: ['externalId', 'externalIndex'],
    })}
    where m.workspace_id = ${workspace}
      and m.id = n.id`.execute()
}
