import { byteaArray, type Tx, timestampArray } from '../../base/db.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import { type NewEvent, recordEvents } from '../../events/record.ts'
import type { Conversation } from '../conversation/conversation.ts'
import { messageSent, messageStatusChanged } from '../conversation/events.ts'
import { type Message, type MessageRow, openMessage, sealExternalId } from '../conversation/message.ts'
import { messageColumns } from '../conversation/message-queries.ts'
import { anyWorkspace } from '../conversation/queries.ts'
import { externalIndex } from '../conversation/sealed.ts'
import { climb, type MessageStatus, type Rung, rungOfParts } from '../conversation/status-ladder.ts'

/** What the platform told of one part of a send. */
export interface PartReport {
  part: number
  rung: Rung
  /** The platform's id of the part, if the report names it. */
  externalId: string | null
  /** When it happened, by the platform's clock. */
  at: Date
}

/** What was told of a message, and the conversation that it is part of, which is locked. */
export interface Advance {
  conversation: AdvancedConversation
  messageId: string
  /** In the order in which they happened. */
  reports: readonly PartReport[]
}

type AdvancedConversation = Pick<Conversation, 'id' | 'connectionId' | 'channel' | 'owner'>

interface PartRow {
  message_id: string
  part: number
  status: MessageStatus
  error_code: string | null
  external_index: Buffer | null
}

/**
 * Moves sends up the ladder by what was told of their parts, under their conversations' locks. One event for each real
 * change of a message: `inbox.message.sent` when it leaves `pending`, which settles its send, and `inbox.message.status`
 * for every rung above `sent`. What came from a history stays as it is, and so does an echo without parts. Returns the
 * messages as they then stand.
 */
export async function advanceMessages(
  tx: Tx,
  keyring: Keyring,
  workspaceId: string,
  advances: readonly Advance[],
  now: Date,
): Promise<Message[]> {
  const ids = advances.map(({ messageId }) => messageId)
  const [rows, parts] = await Promise.all([readMessages(tx, workspaceId, ids), readParts(tx, workspaceId, ids)])
  const messages = new Map(rows.map((row) => [row.id, openMessage(keyring, row)]))
  const partsOf = Map.groupBy(parts, (part) => part.message_id)
  const events: NewEvent[] = []
  for (const { conversation, messageId, reports } of advances) {
    const before = messages.get(messageId)
    if (before === undefined) continue
    const climbed = climbBy(keyring, conversation, before, partsOf.get(messageId) ?? [], reports)
    messages.set(messageId, climbed.message)
    events.push(...climbed.events)
  }
  const advanced = [...messages.values()]
  await Promise.all([
    storeParts(tx, workspaceId, parts),
    storeProgress(tx, keyring, workspaceId, advanced),
    recordEvents(tx, keyring, workspaceId, events, now),
  ])
  return advanced
}

/** What the reports make of a message; its parts are changed in place. */
function climbBy(
  keyring: Keyring,
  conversation: AdvancedConversation,
  before: Message,
  parts: PartRow[],
  reports: readonly PartReport[],
): { message: Message; events: NewEvent[] } {
  let message = before
  const events: NewEvent[] = []
  for (const report of reports) {
    advancePart(keyring, message, parts, report)
    message = withExternalId(message, parts, report)
    const rung = climb(message, rungOfParts(parts.map(rungOf)))
    if (rung === null) continue
    const last = message
    message = { ...message, ...rung, settleBy: null }
    events.push(...eventsOf(conversation, last, message, report.at))
  }
  return { message, events }
}

// A status may be faster than the platform's answer. The sender's answer says `sent` all the same, so that is what the
// first event says, and what the platform told comes as a step of its own.
function eventsOf(conversation: AdvancedConversation, before: Message, after: Message, at: Date): NewEvent[] {
  const statusChanged = messageStatusChanged(conversation, after.id, after, at)
  if (before.status !== 'pending') return [statusChanged]
  if (after.status === 'sent' || after.status === 'failed') return [messageSent(conversation, after)]
  return [messageSent(conversation, { ...after, status: 'sent' }), statusChanged]
}

function advancePart(
  keyring: Keyring,
  { connectionId }: Message,
  parts: readonly PartRow[],
  { part: number, rung, externalId }: PartReport,
): void {
  const part = parts.find((each) => each.part === number)
  if (part === undefined) return
  const next = climb(rungOf(part), rung) ?? rungOf(part)
  part.status = next.status
  part.error_code = next.errorCode
  part.external_index ??= externalId === null ? null : externalIndex(keyring, connectionId, externalId)
}

const rungOf = (part: PartRow): Rung => ({ status: part.status, errorCode: part.error_code })

/** The message goes by the platform's id of its first part. */
function withExternalId(message: Message, parts: readonly PartRow[], { part, externalId }: PartReport): Message {
  if (message.externalId !== null || externalId === null || parts[0]?.part !== part) return message
  return { ...message, externalId }
}

async function readMessages(tx: Tx, workspaceId: string, ids: readonly string[]): Promise<MessageRow[]> {
  return tx<MessageRow[]>`
    select ${messageColumns(tx)}
    from messages m
    where m.workspace_id = ${anyWorkspace(tx, workspaceId)}
      and m.id = any (${[...ids]}::uuid[])
      and m.direction = 'outbound'
      and m.origin in ('live', 'echo')`
}

async function readParts(tx: Tx, workspaceId: string, messageIds: readonly string[]): Promise<PartRow[]> {
  return tx<PartRow[]>`
    select message_id, part, status, error_code, external_index
    from message_parts
    where workspace_id = ${anyWorkspace(tx, workspaceId)}
      and message_id = any (${[...messageIds]}::uuid[])
    order by message_id, part`
}

async function storeParts(tx: Tx, workspaceId: string, parts: readonly PartRow[]): Promise<void> {
  if (parts.length === 0) return
  await tx`
    update message_parts p
    set status = n.status,
      error_code = n.error_code,
      external_index = n.external_index
    from unnest(
      ${parts.map((part) => part.message_id)}::uuid[],
      ${parts.map(({ part }) => part)}::integer[],
      ${parts.map(({ status }) => status)}::text[],
      ${parts.map((part) => part.error_code)}::text[],
      ${byteaArray(
        tx,
        parts.map((part) => part.external_index),
      )}::bytea[]
    ) as n (message_id, part, status, error_code, external_index)
    where p.workspace_id = ${anyWorkspace(tx, workspaceId)}
      and p.message_id = n.message_id
      and p.part = n.part`.execute()
}

async function storeProgress(
  tx: Tx,
  keyring: Keyring,
  workspaceId: string,
  messages: readonly Message[],
): Promise<void> {
  if (messages.length === 0) return
  const sealed = messages.map(({ id, externalId }) =>
    externalId === null ? null : sealExternalId(keyring, id, externalId),
  )
  const indexes = messages.map(({ connectionId, externalId }) =>
    externalId === null ? null : externalIndex(keyring, connectionId, externalId),
  )
  await tx`
    update messages m
    set status = n.status,
      error_code = n.error_code,
      settle_by = n.settle_by,
      external_id = n.external_id,
      external_index = n.external_index
    from unnest(
      ${messages.map(({ id }) => id)}::uuid[],
      ${messages.map(({ status }) => status)}::text[],
      ${messages.map(({ errorCode }) => errorCode)}::text[],
      ${timestampArray(
        tx,
        messages.map(({ settleBy }) => settleBy),
      )}::timestamptz[],
      ${byteaArray(tx, sealed)}::bytea[],
      ${byteaArray(tx, indexes)}::bytea[]
    ) as n (id, status, error_code, settle_by, external_id, external_index)
    where m.workspace_id = ${anyWorkspace(tx, workspaceId)}
      and m.id = n.id`.execute()
}
