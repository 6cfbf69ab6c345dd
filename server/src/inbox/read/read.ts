import type { Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import { touched } from '../conversation/change.ts'
import type { Conversation, InboxDeps, Scope } from '../conversation/conversation.ts'
import { conversationNotFound } from '../conversation/errors.ts'
import { openMessageId } from '../conversation/message.ts'
import { findNewestInbound } from '../conversation/message-queries.ts'
import { lockConversation, storeConversation } from '../conversation/queries.ts'

/**
 * Marks a conversation read. The platform is told after the commit, without waiting: whether it learns of it changes
 * nothing here. Throws 404 outside the scope.
 */
export async function markRead(deps: InboxDeps, scope: Scope, id: string): Promise<Conversation> {
  const { conversation, newest } = await deps.vault.withKeyring(scope.workspaceId, (keyring) =>
    deps.db.tx((tx) => setRead(tx, keyring, scope, id, deps.clock.now())),
  )
  if (newest !== null) await tellPlatform(deps, scope.workspaceId, conversation, newest)
  return conversation
}

/**
 * Lets a conversation stand as unread again, from its newest customer message on; one in which no customer wrote
 * stays as it is. The platform is not told: it knows no way back. Throws 404 outside the scope.
 */
export async function markUnread(deps: InboxDeps, scope: Scope, id: string): Promise<Conversation> {
  const { db, vault, clock } = deps
  return vault.withKeyring(scope.workspaceId, (keyring) =>
    db.tx(async (tx) => {
      const before = await lockConversation(tx, keyring, scope, id)
      if (before === undefined) throw conversationNotFound()
      if (before.unreadCount > 0) return before
      const newest = await findNewestInbound(tx, scope.workspaceId, before.id)
      if (newest === undefined) return before
      const conversation = touched({ ...before, unreadCount: 1 }, clock.now())
      await storeConversation(tx, keyring, scope.workspaceId, conversation)
      return conversation
    }),
  )
}

interface Read {
  conversation: Conversation
  /** The platform's id of the newest customer message. */
  newest: string | null
}

async function setRead(tx: Tx, keyring: Keyring, scope: Scope, id: string, now: Date): Promise<Read> {
  const before = await lockConversation(tx, keyring, scope, id)
  if (before === undefined) throw conversationNotFound()
  const conversation = before.unreadCount === 0 ? before : touched({ ...before, unreadCount: 0 }, now)
  if (conversation !== before) await storeConversation(tx, keyring, scope.workspaceId, conversation)
  const row = await findNewestInbound(tx, scope.workspaceId, before.id)
  return { conversation, newest: row === undefined ? null : openMessageId(keyring, row) }
}

export async function tellPlatform(
  { connectors, openConnection }: Pick<InboxDeps, 'connectors' | 'openConnection'>,
  workspaceId: string,
  { channel, connectionId, contact }: Conversation,
  externalId: string,
): Promise<void> {
  const connection = await openConnection(workspaceId, connectionId)
  if (connection?.state !== 'active') return
  connectors[channel].markRead(connection, externalId, contact.address).catch(() => {})
}
