import type { Tx } from '../../base/db.ts'
import { byteaArray, timestampArray } from '../../base/postgres/values.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import { type NewEvent, recordEvents } from '../../events/record.ts'
import { messageSent, messageStatusChanged } from '../conversation/change.ts'
import type { Conversation } from '../conversation/conversation.ts'
import {
  climb,
  type Message,
  type MessageRow,
  type MessageStatus,
  openMessage,
  type Rung,
  rungOfParts,
  sealExternalId,
} from '../conversation/message.ts'
import { messageColumns } from '../conversation/message-queries.ts'
import { anyWorkspace } from '../conversation/queries.ts'
import { externalIndex } from '../conversation/sealed.ts'

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
 * for every rung above `sent`. What came from a history stays as it is, and so does an echo without parts.
 */
export async function advanceMessages(
  tx: Tx,
  keyring: Keyring,
  workspaceId: string,
  advances: readonly Advance[],
  now: Date,
): Promise<void> {
  const ids = advances.map(({ messageId }) => messageId)
  const [rows, parts] = await Promise.all([readMessages(tx, workspaceId, ids), lockParts(tx, workspaceId, ids)])
  const messages = new Map(rows.map((row) => [row.id, openMessage(keyring, row)]))
  const partsOf = Map.groupBy(parts, (part) => part.message_id)
  const climbed = advances.flatMap(({ conversation, messageId, reports }) => {
    const before = messages.get(messageId)
    return before === undefined ? [] : climbBy(keyring, conversation, before, partsOf.get(messageId) ?? [], reports)
  })
  await Promise.all([
    storeParts(
      tx,
      workspaceId,
      climbed.flatMap((one) => one.parts),
    ),
    storeProgress(
      tx,
      keyring,
      workspaceId,
      climbed.flatMap(({ before, message }) => (before === message ? [] : { before, message })),
    ),
    recordEvents(
      tx,
      keyring,
      workspaceId,
      climbed.flatMap(({ events }) => events),
      now,
    ),
  ])
}

/** What reports make of a message. */
interface Climbed {
  before: Message
  message: Message
  /** Those that changed. */
  parts: PartRow[]
  events: NewEvent[]
}

function climbBy(
  keyring: Keyring,
  conversation: AdvancedConversation,
  before: Message,
  rows: readonly PartRow[],
  reports: readonly PartReport[],
): Climbed {
  const known = caughtUp(before, rows)
  let message = before
  let parts = known
  const events: NewEvent[] = []
  for (const report of reports) {
    parts = parts.map((part) => (part.part === report.part ? advancePart(keyring, message, part, report) : part))
    message = withExternalId(message, parts, report)
    const rung = climb(message, rungOfParts(parts.map(rungOf)))
    if (rung === null) continue
    const last = message
    message = { ...message, ...rung, settleBy: null }
    events.push(...eventsOf(conversation, last, message, report.at))
  }
  return { before, message, parts: parts.filter((part, n) => part !== known[n]), events }
}

/** The part of a message in one may be behind it: `storeAccepted` and `advanceSettled` move the message alone. */
function caughtUp({ status }: Message, rows: readonly PartRow[]): readonly PartRow[] {
  const isAhead = status === 'sent' || status === 'delivered' || status === 'read'
  return rows.length === 1 && isAhead ? rows.map((part) => ({ ...part, status, error_code: null })) : rows
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
  part: PartRow,
  { rung, externalId }: PartReport,
): PartRow {
  const next = climb(rungOf(part), rung)
  const isNamed = part.external_index === null && externalId !== null
  if (next === null && !isNamed) return part
  return {
    ...part,
    ...(next === null ? {} : { status: next.status, error_code: next.errorCode }),
    ...(isNamed ? { external_index: externalIndex(keyring, connectionId, externalId) } : {}),
  }
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

// Locked: what a send notes of a part is under no conversation's lock.
async function lockParts(tx: Tx, workspaceId: string, messageIds: readonly string[]): Promise<PartRow[]> {
  return tx<PartRow[]>`
    select message_id, part, status, error_code, external_index
    from message_parts
    where workspace_id = ${anyWorkspace(tx, workspaceId)}
      and message_id = any (${[...messageIds]}::uuid[])
    order by message_id, part
    for update`
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
      ${byteaArray(parts.map((part) => part.external_index))}::bytea[]
    ) as n (message_id, part, status, error_code, external_index)
    where p.workspace_id = ${anyWorkspace(tx, workspaceId)}
      and p.message_id = n.message_id
      and p.part = n.part`.execute()
}

async function storeProgress(
  tx: Tx,
  keyring: Keyring,
  workspaceId: string,
  changed: readonly { before: Message; message: Message }[],
): Promise<void> {
  if (changed.length === 0) return
  const messages = changed.map(({ message }) => message)
  const named = changed.map(({ before, message: { id, connectionId, externalId } }) =>
    externalId === null || before.externalId !== null
      ? null
      : { sealed: sealExternalId(keyring, id, externalId), index: externalIndex(keyring, connectionId, externalId) },
  )
  const workspace = anyWorkspace(tx, workspaceId)
  // An echo may have told of this very message first: then the id stays with the parts, where statuses look as well.
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
    from unnest(
      ${messages.map(({ id }) => id)}::uuid[],
      ${messages.map(({ status }) => status)}::text[],
      ${messages.map(({ errorCode }) => errorCode)}::text[],
      ${timestampArray(messages.map(({ settleBy }) => settleBy))}::timestamptz[],
      ${byteaArray(named.map((one) => one?.sealed ?? null))}::bytea[],
      ${byteaArray(named.map((one) => one?.index ?? null))}::bytea[]
    ) as n (id, status, error_code, settle_by, external_id, external_index)
    where m.workspace_id = ${workspace}
      and m.id = n.id`.execute()
}
