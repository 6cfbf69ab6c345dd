import type { ChannelEvent } from '../../channels/channel-event.ts'
import { withNewest, withUpdatedAt } from '../conversation/change.ts'
import type { Conversation } from '../conversation/conversation.ts'
import { externalIndex } from '../conversation/encrypted-conversation.ts'
import {
  decryptMessage,
  encryptMessage,
  type Message,
  type MessageRow,
  toStoredDetail,
} from '../conversation/message.ts'
import { findByExternalIndex, messageColumns } from '../conversation/message-queries.ts'
import { deleteMediaOf, insertAttachments } from '../media/media-queries.ts'
import { updateTokens } from '../search/progress.ts'
import { keepsFormerTexts, parkRevision, type RevisionEvent, revise } from './early-revisions.ts'
import type { CustomerEvent, ReceiveContext } from './receiver.ts'

/**
 * Applies a change by the author to a message of the locked conversation. Changes by others are ignored: the customer
 * wrote all inbound messages, our number all outbound ones.
 */
export async function reviseMessage(
  context: ReceiveContext,
  before: Conversation,
  event: RevisionEvent,
): Promise<Conversation> {
  const { tx, keyring, workspaceId, now } = context
  const [found, keepsFormer] = await Promise.all([
    event.type === 'reaction_lifted' ? lockReactions(context, before, event) : lockOriginal(context, before, event),
    keepsFormerTexts(tx, workspaceId),
  ])
  // Only existing reactions can be removed: this one is yet to arrive.
  if (found === null || (found.length === 0 && event.type === 'reaction_lifted')) {
    await parkRevision(context, before.id, event)
    return before
  }
  if (found.length === 0) context.onSkipped?.(event)
  let conversation = before
  for (const row of found) {
    const message = decryptMessage(keyring, row)
    const revised = revise(message, event, keepsFormer)
    if (revised === message) continue
    await storeContent(context, revised)
    if (revised.text !== message.text) await updateTokens(context, revised)
    const losesFile = message.detail?.media !== undefined && revised.detail?.media === undefined
    if (losesFile) await deleteMediaOf(tx, workspaceId, [revised.id])
    conversation = withUpdatedAt({ ...conversation, ...withNewest(conversation, revised) }, now)
  }
  return conversation
}

/**
 * Locks the message. Returns null if it is not stored; an empty list if it belongs to another author or conversation,
 * or was sent in several parts.
 */
async function lockOriginal(
  { tx, keyring, workspaceId, receiver: { id: connectionId } }: ReceiveContext,
  conversation: Conversation,
  { originalId, direction }: RevisionEvent,
): Promise<MessageRow[] | null> {
  const index = externalIndex(keyring, connectionId, originalId)
  const id = await findByExternalIndex(tx, workspaceId, connectionId, index)
  if (id === undefined) return null
  return tx<MessageRow[]>`
    select ${messageColumns(tx)}
    from messages m
    where m.workspace_id = ${workspaceId}
      and m.id = ${id}
      and m.conversation_id = ${conversation.id}
      and m.direction = ${direction}
      and not exists (
        select 1 from message_parts p
        where p.workspace_id = ${workspaceId}
          and p.message_id = m.id
          and p.part > 1
      )
    for update of m`
}

const secondMs = 1000
/** Only a person's newest reaction to a message is shown. */
const newestReactions = 10

/** Locks the author's newest reactions to the message up to that second; several if the author changed it. */
async function lockReactions(
  { tx, keyring, workspaceId, receiver: { id: connectionId } }: ReceiveContext,
  conversation: Conversation,
  { originalId, direction, at }: RevisionEvent,
): Promise<MessageRow[]> {
  return tx<MessageRow[]>`
    select ${messageColumns(tx)}
    from message_reactions r
    join messages m on m.workspace_id = r.workspace_id and m.id = r.message_id
    where r.workspace_id = ${workspaceId}
      and r.about_index = ${externalIndex(keyring, connectionId, originalId)}
      and m.conversation_id = ${conversation.id}
      and m.direction = ${direction}
      and m.occurred_at < ${new Date(at.getTime() + secondMs)}
    order by m.occurred_at desc
    limit ${newestReactions}
    for update of m`
}

async function storeContent({ tx, keyring, workspaceId }: ReceiveContext, message: Message): Promise<void> {
  await tx`
    update messages
    set content = ${encryptMessage(keyring, message).content}
    where workspace_id = ${workspaceId}
      and id = ${message.id}`
}

export type HistoryEvent = Extract<ChannelEvent, { type: 'history' }>

const media: ReadonlySet<string> = new Set(['image', 'video', 'audio', 'document'])

/** Returns whether an event can complete a stored message: a history lists media first and sends them later. */
export function canCompleteHistory(event: CustomerEvent): event is HistoryEvent {
  return event.type === 'history' && media.has(event.kind)
}

/** Replaces the placeholder of a history message with its content. Returns null if there is no placeholder. */
export async function completeHistoryMessage(
  context: ReceiveContext,
  conversation: Conversation,
  { externalId, kind, text, detail }: HistoryEvent,
): Promise<Message | null> {
  const { tx, keyring, workspaceId, receiver, now } = context
  const [row] = await tx<MessageRow[]>`
    select ${messageColumns(tx)}
    from messages m
    where m.workspace_id = ${workspaceId}
      and m.connection_id = ${receiver.id}
      and m.external_index = ${externalIndex(keyring, receiver.id, externalId)}
      and m.conversation_id = ${conversation.id}
      and m.origin = 'history'
      and m.kind = 'system'
    for update`
  if (row === undefined) return null
  const message: Message = { ...decryptMessage(keyring, row), kind, text, ...toStoredDetail(detail, now) }
  await tx`
    update messages
    set kind = ${kind},
      content = ${encryptMessage(keyring, message).content}
    where workspace_id = ${workspaceId}
      and id = ${message.id}`
  await insertAttachments(context, [message])
  await updateTokens(context, message)
  return message
}
