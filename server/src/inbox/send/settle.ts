import { pipelineCommit, type Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { unnested } from '../../base/postgres/rows.ts'
import { activityIntervalMs } from '../../channels/health/activity.ts'
import { recordEvents } from '../../events/record.ts'
import { lockConversations } from '../conversation/batch-queries.ts'
import { messageSent } from '../conversation/change.ts'
import type { WorkspaceTx } from '../conversation/conversation.ts'
import { externalIndex } from '../conversation/encrypted-conversation.ts'
import { encryptExternalId } from '../conversation/message.ts'
import { lockExternalIds } from '../conversation/message-queries.ts'
import { opaqueWorkspaceId } from '../conversation/queries.ts'
import type { AcceptedPart } from './call-platform.ts'
import { recordResult } from './record-result.ts'
import type { ReservedSend } from './reserve.ts'
import { type SendDeps, wakeWaiting } from './send-deps.ts'
import { acceptedResponse, type StoredResponse, settleSend } from './settle-parts.ts'

/** A send whose only part the platform has accepted. */
export interface AcceptedCall {
  reserved: ReservedSend
  accepted: AcceptedPart
}

/**
 * Settles a send after its calls. Nearly all have one accepted part: `settleMany` records and settles these in batches.
 * All others are settled from the recorded results of their parts.
 */
export async function settle(
  deps: SendDeps,
  reserved: ReservedSend,
  accepted: AcceptedPart | null,
  settleMany: (call: AcceptedCall) => Promise<StoredResponse | null>,
): Promise<StoredResponse | null> {
  const answer =
    accepted === null ? null : await deps.step('record', () => settleOrRecord(deps, { reserved, accepted }, settleMany))
  return deps.step('settle', async () => answer ?? settleSend(deps, reserved, 'answered'))
}

async function settleOrRecord(
  deps: SendDeps,
  call: AcceptedCall,
  settleMany: (call: AcceptedCall) => Promise<StoredResponse | null>,
): Promise<StoredResponse | null> {
  const { reserved, accepted } = call
  const answer = await settleMany(call).catch((error: unknown) => {
    // If it was settled nevertheless, recording the result changes nothing.
    deps.log.warn('batch settle failed; retrying individually', { messageId: reserved.messageId }, error)
    return null
  })
  if (answer === null) await recordResult(deps, reserved, 1, accepted)
  return answer
}

/**
 * Records and settles sends of a workspace whose only part was accepted, in a few statements. Returns null for sends
 * left to `settleSend`: the conversation is locked by others, or a status has arrived already.
 */
export function settleAccepted(
  deps: SendDeps,
  workspaceId: string,
  calls: readonly AcceptedCall[],
): Promise<(StoredResponse | null)[]> {
  return deps.keyStore.withKeyring(workspaceId, (keyring) => {
    const sends = calls.map((one) => ({ ...one, send: acceptedOf(keyring, one) }))
    return deps.db.tx((tx) => settleLocked(deps, { tx, keyring, workspaceId }, sends))
  })
}

function acceptedOf(keyring: Keyring, { reserved, accepted: { externalId } }: AcceptedCall): AcceptedSend {
  const { messageId, conversationId, connection } = reserved
  return {
    conversationId,
    connectionId: connection.id,
    messageId,
    externalIndex: externalIndex(keyring, connection.id, externalId),
    externalId: encryptExternalId(keyring, messageId, externalId),
  }
}

async function settleLocked(
  deps: SendDeps,
  { tx, keyring, workspaceId }: WorkspaceTx,
  sends: readonly (AcceptedCall & { send: AcceptedSend })[],
): Promise<(StoredResponse | null)[]> {
  const all = dropDuplicateIds(sends.map(({ send }) => send))
  const ids = [...new Set(all.map(({ conversationId }) => conversationId))]
  const indexes = all.map((one) => one.externalIndex)
  const [locked, , unreported] = await deps.step('lockToSettle', () =>
    Promise.all([
      lockConversations(tx, workspaceId, ids, { skipLocked: true }),
      lockExternalIds(tx, indexes),
      findUnreported(tx, workspaceId, all),
    ]),
  )
  const conversations = new Map(locked.map((one) => [one.id, one]))
  const unreportedIds = new Set(unreported)
  const settleable = all.filter(
    ({ messageId, conversationId }) => unreportedIds.has(messageId) && conversations.has(conversationId),
  )
  if (settleable.length === 0) return sends.map(() => null)

  const messages = new Map(sends.map(({ reserved }) => [reserved.messageId, reserved.message]))
  const now = deps.clock.now()
  const events = settleable.flatMap(({ messageId, conversationId }) => {
    const [conversation, message] = [conversations.get(conversationId), messages.get(messageId)]
    return conversation && message ? [messageSent(conversation, { ...message, status: 'sent' })] : []
  })
  for (const { conversationId } of settleable) wakeWaiting(tx, conversationId)
  await deps.step('writeOutcome', () =>
    pipelineCommit(tx, () =>
      Promise.all([
        storeAccepted(tx, workspaceId, settleable, now),
        recordEvents(tx, keyring, workspaceId, events, now),
      ]),
    ),
  )
  const answers = new Map(settleable.map(({ messageId }) => [messageId, acceptedResponse(messageId, 'sent')]))
  return sends.map(({ reserved }) => answers.get(reserved.messageId) ?? null)
}

/** Drops sends whose platform id equals that of another send. */
function dropDuplicateIds(sends: readonly AcceptedSend[]): AcceptedSend[] {
  const byId = new Map<string, AcceptedSend>()
  for (const send of sends) {
    const id = send.externalIndex.toString('base64')
    if (!byId.has(id)) byId.set(id, send)
  }
  return [...byId.values()]
}

/** A send whose only part was accepted, ready to store. */
interface AcceptedSend {
  conversationId: string
  connectionId: string
  messageId: string
  /** Platform id: its digest, and encrypted for messages/external_id. */
  externalIndex: Buffer
  externalId: Buffer
}

/**
 * Returns the messages of sends whose state has not changed since the reservation: no status has arrived, they are not
 * settled, and their platform ids are new. Requires the locks of their conversations and of these ids.
 */
async function findUnreported(tx: Tx, workspaceId: string, sends: readonly AcceptedSend[]): Promise<string[]> {
  const workspace = opaqueWorkspaceId(tx, workspaceId)
  const rows = await tx<{ message_id: string }[]>`
    select n.message_id
    from ${unnested(sends, { uuid: ['messageId', 'conversationId', 'connectionId'], bytea: ['externalIndex'] })}
    cross join lateral (
      select from dispatches
      where workspace_id = ${workspace} and message_id = n.message_id and conversation_id = n.conversation_id
        and verdict is null
      offset 0
    ) as d
    cross join lateral (
      select from messages where workspace_id = ${workspace} and id = n.message_id and status = 'pending' offset 0
    ) as m
    where not exists (
      select 1 from messages
      where workspace_id = ${workspace} and connection_id = n.connection_id and external_index = n.external_index
      offset 0
    )
    and not exists (
      select 1 from message_parts
      where workspace_id = ${workspace} and connection_id = n.connection_id and external_index = n.external_index
      offset 0
    )
    and not exists (
      select 1 from parked_statuses
      where workspace_id = ${workspace} and connection_id = n.connection_id and external_index = n.external_index
      offset 0
    )`
  return rows.map((row) => row.message_id)
}

/**
 * Settles accepted sends: stores the platform's ids in the messages and deletes the dispatches. Parts and responses
 * stay as reserved: a single part has its message's state, and no response without a dispatch means `accepted`.
 */
async function storeAccepted(tx: Tx, workspaceId: string, sends: readonly AcceptedSend[], now: Date): Promise<void> {
  const workspace = opaqueWorkspaceId(tx, workspaceId)
  const ids = sends.map(({ messageId }) => messageId)
  await Promise.all([
    tx`
      update messages m
      set status = 'sent',
        settle_by = null,
        external_id = n.external_id,
        external_index = n.external_index
      from ${unnested(sends, { uuid: ['messageId'], bytea: ['externalId', 'externalIndex'] })}
      where m.workspace_id = ${workspace}
        and m.id = n.message_id`.execute(),
    tx`
      delete from dispatches
      where workspace_id = ${workspace}
        and message_id = any (${ids}::uuid[])`.execute(),
    tx`
      update connections
      set last_event_out_at = ${now}
      where workspace_id = ${workspace}
        and id = any (${[...new Set(sends.map(({ connectionId }) => connectionId))].sort()}::uuid[])
        and (last_event_out_at is null or last_event_out_at <= ${new Date(now.getTime() - activityIntervalMs)})`.execute(),
  ])
}
