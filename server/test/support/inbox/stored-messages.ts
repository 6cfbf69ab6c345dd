import type { MediaKind } from '../../../src/channels/channel-event.ts'
import {
  type Direction,
  decryptMessage,
  type Message,
  type MessageRow,
} from '../../../src/inbox/conversation/message.ts'
import { messageColumns } from '../../../src/inbox/conversation/message-queries.ts'
import { decryptDetails, type MediaDetails, type MediaState } from '../../../src/inbox/media/media.ts'
import type { Actor } from '../../../src/workspaces/actor.ts'
import type { InboxWorld } from './inbox-world.ts'

/** File of a message, or an upload that no send uses yet. */
interface Media {
  id: string
  conversationId: string
  connectionId: string
  messageId: string | null
  direction: Direction
  kind: MediaKind
  state: MediaState
  details: MediaDetails
  file: { key: Buffer; storedAs: string; bytes: number } | null
  preview: { key: Buffer; storedAs: string; bytes: number } | null
  /** The platform's id of an upload, while valid. */
  platform: { id: string; livesUntil: Date } | null
  failure: string | null
  createdBy: Actor | null
  createdAt: Date
  updatedAt: Date
}

/** Returns the message with this id of the platform, as stored. */
export async function storedMessage({ db, keyStore, workspaceId }: InboxWorld, externalId: string): Promise<Message> {
  const keyring = await keyStore.keyring(workspaceId)
  const rows = await db.sql<MessageRow[]>`
    select ${messageColumns(db.sql)} from messages m where m.workspace_id = ${workspaceId}`
  const found = rows.map((row) => decryptMessage(keyring, row)).find((message) => message.externalId === externalId)
  if (found === undefined) throw new Error(`No message ${externalId}`)
  return found
}

/** Returns the rows of a workspace's files, in the order of their messages. */
export async function storedFiles({ db, keyStore, workspaceId }: InboxWorld) {
  const keyring = await keyStore.keyring(workspaceId)
  const rows = await db.sql<(Omit<Media, 'details'> & { details: Buffer; dueAt: Date | null })[]>`
    select f.id, f.conversation_id as "conversationId", f.connection_id as "connectionId", f.message_id as "messageId",
      f.direction, f.kind, f.state, f.details, f.due_at as "dueAt"
    from media f
    join messages m on m.workspace_id = f.workspace_id and m.id = f.message_id
    where f.workspace_id = ${workspaceId}
    order by m.occurred_at`
  return rows.map((row) => ({ ...row, details: decryptDetails(keyring, row.id, row.details) }))
}
