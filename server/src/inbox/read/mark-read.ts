import { timestampArray } from '../../base/postgres/values.ts'
import { currentColumns, touchConversations } from '../conversation/activity-columns.ts'
import { withUpdatedAt } from '../conversation/change.ts'
import {
  type ChangeTx,
  type Conversation,
  type InboxDeps,
  inTransaction,
  inWorkspace,
  type PlainTx,
  publishConversations,
  type Scope,
} from '../conversation/conversation.ts'
import { decryptConversation } from '../conversation/encrypted-conversation.ts'
import { decryptMessageId } from '../conversation/message.ts'
import { findInbound, findNewestInbound } from '../conversation/message-queries.ts'
import { findConversation, opaqueWorkspaceId, requireLocked, storeConversation } from '../conversation/queries.ts'
import { standbyOwner } from '../conversation/thread-control.ts'

/**
 * Marks a conversation read. Sends the read receipt to the platform after the commit, without awaiting or reporting its
 * result. Throws 404 outside the scope.
 */
export async function markRead(deps: InboxDeps, scope: Scope, id: string): Promise<Conversation> {
  const { workspaceId } = scope
  const { conversation, newest } = await inTransaction(deps, workspaceId, (work) => setRead(work, scope, id))
  if (newest !== null) await sendReadReceipt(deps, workspaceId, conversation, newest)
  return conversation
}

/**
 * Marks a conversation unread from its newest customer message; does nothing without one. The platform has no such
 * operation. Throws 404 outside the scope.
 */
export async function markUnread(deps: InboxDeps, scope: Scope, id: string): Promise<Conversation> {
  return inWorkspace(deps, scope.workspaceId, async (work) => {
    const before = await requireLocked(work, scope, id)
    if (before.unreadCount > 0) return before
    const newest = await findNewestInbound(work.tx, scope.workspaceId, before.id)
    if (newest === undefined) return before
    const conversation = withUpdatedAt({ ...before, unreadCount: 1 }, work.now)
    await storeConversation(work, conversation)
    return conversation
  })
}

/**
 * Records that an agent was shown conversations in this state. In those that it owns, the customer's messages become
 * seen and, if the agent takes them, read, with a read receipt to the platform. Later messages are neither.
 */
export async function recordShown(
  deps: InboxDeps,
  workspaceId: string,
  keyId: string,
  shown: readonly Conversation[],
  marksRead: boolean,
): Promise<void> {
  const read = await recordSeen(deps, workspaceId, keyId, shown, marksRead)
  await Promise.all(read.map((one) => sendReadReceiptFor(deps, { workspaceId, connectionIds: [] }, one.id, one.newest)))
}

/** Does the same without read receipts; returns the conversations that need one, with their newest customer message. */
export async function recordSeen(
  deps: InboxDeps,
  workspaceId: string,
  keyId: string,
  shown: readonly Conversation[],
  marksRead: boolean,
): Promise<{ id: string; newest: string }[]> {
  const all = shown.map((one) => ({ ...one, unreadCount: marksRead ? one.unreadCount : 0 }))
  const changed = all.filter(({ inbound, unreadCount }) => unreadCount > 0 || inbound.seen !== inbound.newest)
  if (changed.length === 0) return []
  const ids = await deps.db.tx((tx) => markSeen({ tx, workspaceId, now: deps.clock.now() }, keyId, changed))
  const read = changed.filter(({ id, unreadCount }) => unreadCount > 0 && ids.has(id))
  return read.flatMap(({ id, inbound: { newest } }) => (newest === null ? [] : [{ id, newest }]))
}

async function markSeen({ tx, workspaceId, now }: PlainTx, keyId: string, shown: readonly Conversation[]) {
  const workspace = opaqueWorkspaceId(tx, workspaceId)
  const owned = await tx<{ id: string }[]>`
    select c.id
    from conversations c
    where c.workspace_id = ${workspace}
      and c.id = any (${shown.map(({ id }) => id)}::uuid[])
      and c.owner_key_id = ${keyId}
    order by c.id
    for update of c`
  const ids = new Set(owned.map(({ id }) => id))
  const ownedConversations = shown.filter(({ id }) => ids.has(id))
  const unread = ownedConversations.filter(({ unreadCount }) => unreadCount > 0).map(({ id }) => id)
  if (ownedConversations.length === 0) return ids
  if (unread.length > 0) publishConversations(tx, workspaceId, unread)
  const isTouched = tx`(c.is_moving or n.read_count > 0)`
  await tx`
    with moved as (${touchConversations(tx, workspaceId, unread, timestampArray(unread.map(() => now)))})
    update conversations c
    set seen_inbound_id = greatest(c.seen_inbound_id, n.seen_id),
      is_moving = ${isTouched},
      now_unread_count = case when ${isTouched} then greatest(${currentColumns.unreadCount(tx)} - n.read_count, 0) end,
      now_last_message_at = case when ${isTouched} then ${currentColumns.lastMessageAt(tx)} end,
      now_unanswered_since = case when ${isTouched} then ${currentColumns.unansweredSince(tx)} end,
      now_updated_at = case
        when n.read_count > 0 then greatest(${currentColumns.updatedAt(tx)}, ${now}::timestamptz)
        else c.now_updated_at
      end
    from unnest(
      ${ownedConversations.map(({ id }) => id)}::uuid[],
      ${ownedConversations.map(({ inbound }) => inbound.newest)}::uuid[],
      ${ownedConversations.map(({ unreadCount }) => unreadCount)}::integer[]
    ) as n (id, seen_id, read_count)
    where c.workspace_id = ${workspace}
      and c.id = n.id`.execute()
  return ids
}

/** Sends a read receipt for a customer message and all before it. */
export async function sendReadReceiptFor(
  deps: InboxDeps,
  scope: Scope,
  conversationId: string,
  messageId: string,
): Promise<void> {
  const { workspaceId } = scope
  const [conversation, message] = await Promise.all([
    findConversation(deps.db.sql, scope, conversationId),
    findInbound(deps.db.sql, workspaceId, messageId),
  ])
  if (conversation === undefined || message === undefined) return
  const keyring = await deps.keyStore.keyring(workspaceId)
  const externalId = decryptMessageId(keyring, message)
  if (externalId !== null)
    await sendReadReceipt(deps, workspaceId, decryptConversation(keyring, conversation), externalId)
}

/** Returns the conversation, and the platform id of the newest customer message. */
async function setRead(work: ChangeTx, scope: Scope, id: string) {
  const { tx, keyring, now } = work
  const before = await requireLocked(work, scope, id)
  const conversation = before.unreadCount === 0 ? before : withUpdatedAt({ ...before, unreadCount: 0 }, now)
  if (conversation !== before) await storeConversation(work, conversation)
  const row = await findNewestInbound(tx, scope.workspaceId, before.id)
  return { conversation, newest: row === undefined ? null : decryptMessageId(keyring, row) }
}

export async function sendReadReceipt(
  { connectors, openConnection, clock }: Pick<InboxDeps, 'connectors' | 'openConnection' | 'clock'>,
  workspaceId: string,
  conversation: Conversation,
  externalId: string,
): Promise<void> {
  const { channel, connectionId, contact } = conversation
  // While another app on the number has the conversation, the customer sees nothing of us.
  if (standbyOwner(conversation, clock.now()) !== null) return
  const connection = await openConnection(workspaceId, connectionId)
  if (connection?.state !== 'active') return
  connectors[channel].markRead(connection, externalId, contact.address).catch(() => {})
}
