import type { Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import { type NewEvent, recordEvents } from '../../events/record.ts'
import type { Conversation } from '../conversation/conversation.ts'
import { messageSent, messageStatusChanged } from '../conversation/events.ts'
import { type Message, type MessageRow, openMessage, sealExternalId } from '../conversation/message.ts'
import { messageColumns } from '../conversation/message-queries.ts'
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

interface PartRow {
  part: number
  status: MessageStatus
  error_code: string | null
  external_index: Buffer | null
}

/**
 * Moves a send up the ladder by what was told of its parts, in the order given, under its conversation's lock. One
 * event for each real change of the message: `inbox.message.sent` when it leaves `pending`, which settles its send,
 * and `inbox.message.status` for every rung above `sent`. What came from a history stays as it is, and so does an echo without parts.
 */
export async function advanceMessage(
  tx: Tx,
  keyring: Keyring,
  workspaceId: string,
  conversation: Conversation,
  messageId: string,
  reports: readonly PartReport[],
  now: Date,
): Promise<Message | null> {
  const [row] = await tx<MessageRow[]>`
    select ${messageColumns(tx)}
    from messages m
    where m.workspace_id = ${workspaceId}
      and m.id = ${messageId}
      and m.direction = 'outbound'
      and m.origin in ('live', 'echo')`
  if (row === undefined) return null
  const parts = await readParts(tx, workspaceId, messageId)
  let message = openMessage(keyring, row)
  const events: NewEvent[] = []
  for (const report of reports) {
    await advancePart(tx, keyring, workspaceId, message, parts, report)
    message = withExternalId(message, parts, report)
    const rung = climb(message, rungOfParts(parts.map(rungOf)))
    if (rung === null) continue
    const before = message
    message = { ...message, ...rung, settleBy: null }
    events.push(...eventsOf(conversation, before, message, report.at))
  }
  await storeProgress(tx, keyring, workspaceId, message)
  await recordEvents(tx, keyring, workspaceId, events, now)
  return message
}

// A status may be faster than the platform's answer. The sender's answer says `sent` all the same, so that is what the
// first event says, and what the platform told comes as a step of its own.
function eventsOf(conversation: Conversation, before: Message, after: Message, at: Date): NewEvent[] {
  const statusChanged = messageStatusChanged(conversation, after.id, after, at)
  if (before.status !== 'pending') return [statusChanged]
  if (after.status === 'sent' || after.status === 'failed') return [messageSent(conversation, after)]
  return [messageSent(conversation, { ...after, status: 'sent' }), statusChanged]
}

async function readParts(tx: Tx, workspaceId: string, messageId: string): Promise<PartRow[]> {
  return tx<PartRow[]>`
    select part, status, error_code, external_index
    from message_parts
    where workspace_id = ${workspaceId}
      and message_id = ${messageId}
    order by part`
}

async function advancePart(
  tx: Tx,
  keyring: Keyring,
  workspaceId: string,
  { id, connectionId }: Message,
  parts: PartRow[],
  { part: number, rung, externalId }: PartReport,
): Promise<void> {
  const part = parts.find((each) => each.part === number)
  if (part === undefined) return
  const index = externalId === null ? null : externalIndex(keyring, connectionId, externalId)
  const next = climb(rungOf(part), rung) ?? rungOf(part)
  part.status = next.status
  part.error_code = next.errorCode
  part.external_index ??= index
  await tx`
    update message_parts
    set status = ${part.status},
      error_code = ${part.error_code},
      external_index = ${part.external_index}
    where workspace_id = ${workspaceId}
      and message_id = ${id}
      and part = ${number}`
}

const rungOf = (part: PartRow): Rung => ({ status: part.status, errorCode: part.error_code })

/** The message goes by the platform's id of its first part. */
function withExternalId(message: Message, parts: readonly PartRow[], { part, externalId }: PartReport): Message {
  if (message.externalId !== null || externalId === null || parts[0]?.part !== part) return message
  return { ...message, externalId }
}

async function storeProgress(tx: Tx, keyring: Keyring, workspaceId: string, message: Message): Promise<void> {
  const { id, connectionId, externalId } = message
  await tx`
    update messages
    set status = ${message.status},
      error_code = ${message.errorCode},
      settle_by = ${message.settleBy},
      external_id = ${externalId === null ? null : sealExternalId(keyring, id, externalId)},
      external_index = ${externalId === null ? null : externalIndex(keyring, connectionId, externalId)}
    where workspace_id = ${workspaceId}
      and id = ${id}`
}
