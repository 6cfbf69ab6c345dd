import type { Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import { type Message, type MessageRow, openMessage } from '../conversation/message.ts'
import { messageColumns } from '../conversation/message-queries.ts'
import { lockUpload, type Upload } from '../media/sent-media.ts'
import type { SendCommand } from './send-command.ts'

/** What a send names beside its words, as it is under the conversation's lock; null where it names none, or one that is not there. */
export interface NamedBySend {
  /** The file, or that of a template's header. */
  upload: Upload | null
  /** The message that is quoted or reacted to. */
  about: Message | null
}

export const namesNothing: NamedBySend = { upload: null, about: null }

/** Makes no statement for words alone. */
export async function findNamed(
  tx: Tx,
  keyring: Keyring,
  place: { workspaceId: string; conversationId: string },
  command: SendCommand,
): Promise<NamedBySend> {
  const [uploadId, aboutId] = [uploadIdOf(command), aboutIdOf(command)]
  if (uploadId === undefined && aboutId === undefined) return namesNothing
  const { workspaceId, conversationId } = place
  const [upload, about] = await Promise.all([
    uploadId === undefined ? null : lockUpload(tx, keyring, workspaceId, conversationId, uploadId),
    aboutId === undefined ? null : findMessage(tx, keyring, place, aboutId),
  ])
  return { upload, about }
}

function uploadIdOf(command: SendCommand): string | undefined {
  if (command.kind === 'media') return command.uploadId
  return command.kind === 'template' ? command.headerUploadId : undefined
}

function aboutIdOf(command: SendCommand): string | undefined {
  if (command.kind === 'reaction') return command.messageId
  return command.kind === 'interactive' ? undefined : command.quotedId
}

async function findMessage(
  tx: Tx,
  keyring: Keyring,
  { workspaceId, conversationId }: { workspaceId: string; conversationId: string },
  id: string,
): Promise<Message | null> {
  const [row] = await tx<MessageRow[]>`
    select ${messageColumns(tx)}
    from messages m
    where m.workspace_id = ${workspaceId}
      and m.id = ${id}
      and m.conversation_id = ${conversationId}`
  return row === undefined ? null : openMessage(keyring, row)
}
