import type { Tx } from '../../base/db.ts'
import type { ChannelEvent } from '../../channels/channel-event.ts'
import type { Conversation } from '../conversation/conversation.ts'
import { keepDetail, type Message, type MessageRow, openMessage, sealMessage } from '../conversation/message.ts'
import { messageColumns } from '../conversation/message-queries.ts'
import { externalIndex } from '../conversation/sealed.ts'
import { insertWhatTheyCarry } from '../media/media-queries.ts'
import { renewTokens } from '../search/renew-tokens.ts'
import type { CustomerEvent } from './group-events.ts'
import type { Intake } from './receiver.ts'

export type HistoryEvent = Extract<ChannelEvent, { type: 'history' }>

const media: ReadonlySet<string> = new Set(['image', 'video', 'audio', 'document'])

/** Whether an event may say more of a message that is known: a history names its media first and shows them later. */
export function mayReveal(event: CustomerEvent): event is HistoryEvent {
  return event.type === 'history' && media.has(event.kind)
}

/** Puts kind and text of what was told into the line that stood in for it. Null when there is none to fill. */
export async function revealMessage(
  tx: Tx,
  { keyring, receiver, now }: Intake,
  conversation: Conversation,
  { externalId, kind, text, detail }: HistoryEvent,
): Promise<Message | null> {
  const [row] = await tx<MessageRow[]>`
    select ${messageColumns(tx)}
    from messages m
    where m.workspace_id = ${receiver.workspaceId}
      and m.connection_id = ${receiver.id}
      and m.external_index = ${externalIndex(keyring, receiver.id, externalId)}
      and m.conversation_id = ${conversation.id}
      and m.origin = 'history'
      and m.kind = 'system'
    for update`
  if (row === undefined) return null
  const message: Message = { ...openMessage(keyring, row), kind, text, ...keepDetail(detail, now) }
  await tx`
    update messages
    set kind = ${kind},
      content = ${sealMessage(keyring, message).content}
    where workspace_id = ${receiver.workspaceId}
      and id = ${message.id}`
  await insertWhatTheyCarry(tx, keyring, receiver.workspaceId, [message])
  await renewTokens(tx, keyring, receiver.workspaceId, message)
  return message
}
