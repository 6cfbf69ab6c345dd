import type { Sql } from '../../base/db.ts'
import { isUuid, newId } from '../../base/id.ts'
import type { Customer } from '../../channels/channel-event.ts'
import { systemActor } from '../../workspaces/actor.ts'
import { serviceReader } from '../../workspaces/service/service-settings.ts'
import { insertConversations } from '../conversation/batch-queries.ts'
import { messageSent, withOutbound } from '../conversation/change.ts'
import { commitChange } from '../conversation/commit-change.ts'
import {
  type ChangeDeps,
  type ChangeTx,
  type Conversation,
  connectionNotFound,
  type Scope,
} from '../conversation/conversation.ts'
import { newConversation, withCustomer } from '../conversation/customer.ts'
import { externalIndex } from '../conversation/encrypted-conversation.ts'
import { lockCustomer } from '../conversation/lock-customer.ts'
import { type Message, newMessage } from '../conversation/message.ts'
import {
  findByExternalIndex,
  findFreeTime,
  insertMessages,
  lockExternalIds,
  lockIds,
} from '../conversation/message-queries.ts'
import { applyEarlyRevisions, lockOffset } from './early-revisions.ts'
import { retryOnRace } from './permanent-errors.ts'

export interface Echo {
  connectionId: string
  /** Digits with country code. */
  to: string
  externalId: string
  kind: 'text' | 'template'
  text: string
  /** Null means now. */
  occurredAt: Date | null
}

export interface EchoResult {
  messageId: string
  /** False for a repeat, which changes nothing. */
  inserted: boolean
  /** Whether the echo created the conversation. */
  isNewConversation: boolean
}

/** Records an echo. It answers the customer and changes neither owner nor status. */
export async function recordEcho(deps: ChangeDeps, workspaceId: string, echo: Echo): Promise<EchoResult> {
  const service = await serviceReader(deps.db)(workspaceId)
  return deps.keyStore.withKeyring(workspaceId, (keyring) =>
    retryOnRace(() => deps.db.tx((tx) => record({ tx, keyring, workspaceId, now: deps.clock.now(), service }, echo))),
  )
}

async function record(work: ChangeTx, echo: Echo): Promise<EchoResult> {
  const { tx, keyring, workspaceId, now } = work
  const index = externalIndex(keyring, echo.connectionId, echo.externalId)
  // Serializes concurrent repeats.
  await Promise.all([lockExternalIds(tx, [index]), lockIds(tx, [index], lockOffset)])
  const known = await findByExternalIndex(tx, workspaceId, echo.connectionId, index)
  if (known !== undefined) return { messageId: known, inserted: false, isNewConversation: false }
  const { conversation, isNewConversation } = await findOrCreateFor(work, echo)
  const created = await applyEarlyRevisions(work, conversation, customerOf(echo), messageOf(conversation, echo, now))
  const occurredAt = await findFreeTime(tx, workspaceId, conversation.id, created.occurredAt)
  const message = { ...created, occurredAt }
  await insertMessages(work, [message])
  const after = withOutbound(conversation, message, now)
  const change = { conversation: after, events: [messageSent(after, message)] }
  await commitChange(work, conversation, change, { actor: systemActor, reason: null })
  return { messageId: message.id, inserted: true, isNewConversation }
}

async function findOrCreateFor(work: ChangeTx, echo: Echo) {
  const { now } = work
  const { connectionId, occurredAt } = echo
  const customer = customerOf(echo)
  const found = await lockCustomer(work, connectionId, customer)
  if (found !== undefined)
    return { conversation: withCustomer(found, customer, 'third_party', now), isNewConversation: false }
  const connection = { id: connectionId, channel: 'waba' } as const
  const conversation = newConversation(connection, customer, 'third_party', occurredAt ?? now, now)
  await insertConversations(work, [conversation])
  return { conversation, isNewConversation: true }
}

const customerOf = ({ to }: Echo): Customer => ({ userId: null, parentUserId: null, phone: to, name: null })

function messageOf(conversation: Conversation, echo: Echo, now: Date): Message {
  const { connectionId, kind, text, externalId, occurredAt } = echo
  return newMessage({
    ...{ id: newId(now), conversationId: conversation.id, connectionId, direction: 'outbound', kind, origin: 'echo' },
    ...{ text, externalId, status: 'sent', occurredAt: occurredAt ?? now, createdAt: now },
  })
}

/** Throws 404 unless the connection is an official one that the caller can see. */
export async function requireEchoConnection(sql: Sql, scope: Scope, connectionId: string): Promise<void> {
  const isAllowed = scope.connectionIds.length === 0 || scope.connectionIds.includes(connectionId.toLowerCase())
  if (!isUuid(connectionId) || !isAllowed) throw connectionNotFound()
  const [row] = await sql`
    select id
    from connections
    where workspace_id = ${scope.workspaceId}
      and id = ${connectionId}
      and channel = 'waba'
      and removed_at is null`
  if (row === undefined) throw connectionNotFound()
}
