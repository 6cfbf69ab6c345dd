import { type Message, type MessageRow, openMessage } from '../../../src/inbox/conversation/message.ts'
import { messageColumns } from '../../../src/inbox/conversation/message-queries.ts'
import type { Media, MediaDetails } from '../../../src/inbox/media/media.ts'
import { openDetails } from '../../../src/inbox/media/sealed-media.ts'
import type { InboxWorld } from './inbox-world.ts'

/** The messages of a workspace as they are kept, oldest first. */
export async function keptMessages({ db, vault, workspaceId }: InboxWorld): Promise<Message[]> {
  const keyring = await vault.keyring(workspaceId)
  const rows = await db.sql<MessageRow[]>`
    select ${messageColumns(db.sql)}
    from messages m
    where m.workspace_id = ${workspaceId}
    order by m.occurred_at`
  return rows.map((row) => openMessage(keyring, row))
}

/** The message that the platform calls by this id. */
export async function keptMessage(w: InboxWorld, externalId: string): Promise<Message> {
  const found = (await keptMessages(w)).find((message) => message.externalId === externalId)
  if (found === undefined) throw new Error(`No message ${externalId}`)
  return found
}

type KeptFile = Pick<Media, 'id' | 'conversationId' | 'connectionId' | 'messageId' | 'direction' | 'kind' | 'state'> & {
  details: MediaDetails
  dueAt: Date | null
}

/** The rows of a workspace's files, in the order of their messages. */
export async function keptFiles({ db, vault, workspaceId }: InboxWorld): Promise<KeptFile[]> {
  const keyring = await vault.keyring(workspaceId)
  const rows = await db.sql<(KeptFile & { details: Buffer })[]>`
    select f.id, f.conversation_id as "conversationId", f.connection_id as "connectionId", f.message_id as "messageId",
      f.direction, f.kind, f.state, f.details, f.due_at as "dueAt"
    from media f
    join messages m on m.workspace_id = f.workspace_id and m.id = f.message_id
    where f.workspace_id = ${workspaceId}
    order by m.occurred_at`
  return rows.map((row) => ({ ...row, details: openDetails(keyring, row.id, row.details) }))
}
