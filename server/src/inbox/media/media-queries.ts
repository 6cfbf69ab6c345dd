import type { Tx } from '../../base/db.ts'
import { notFound } from '../../base/errors.ts'
import { byteaArray, timestampArray } from '../../base/postgres/values.ts'
import type { MediaInfo, MediaKind } from '../../channels/channel-event.ts'
import type { FileKey } from '../../media/encrypted-file.ts'
import type { ReadDeps, WorkspaceSql, WorkspaceTx } from '../conversation/conversation.ts'
import { externalIndex } from '../conversation/encrypted-conversation.ts'
import type { Message, StoredDetail } from '../conversation/message.ts'
import { publishPendingMedia } from './fetch-queries.ts'
import { downloadType, isInlineType, safeName } from './inspect-file.ts'
import { decryptDetails, decryptFileKeys, encryptDetails, type MediaDetails, type MediaState } from './media.ts'

/**
 * Inserts related rows of new messages after them, in the same transaction: files to download and targets of reactions.
 * Runs no statement for plain text messages.
 */
export async function insertAttachments(work: WorkspaceTx, messages: readonly Message[]): Promise<void> {
  await Promise.all([insertMedia(work, messages), insertReactions(work, messages)])
}

type WithFile = Message & { file: MediaInfo; detail: { media: NonNullable<StoredDetail['media']> } }
const hasFile = (message: Message): message is WithFile =>
  message.file !== undefined && message.detail?.media !== undefined

/** Inserts a row for the file of each message that has one, due immediately. */
export async function insertMedia(work: WorkspaceTx, messages: readonly Message[]): Promise<void> {
  const { tx, keyring, workspaceId } = work
  const rows = messages.filter(hasFile)
  if (rows.length === 0) return
  const column = <T>(read: (row: WithFile) => T): T[] => rows.map(read)
  await tx`
    insert into media (
      workspace_id, id, conversation_id, connection_id, message_id, direction, kind, state, details, due_at, created_at,
      updated_at
    )
    select ${workspaceId}::uuid, n.id, n.conversation_id, n.connection_id, n.message_id, n.direction, n.kind, 'coming',
      n.details, n.created_at, n.created_at, n.created_at
    from unnest(
      ${column(({ detail }) => detail.media.id)}::uuid[],
      ${column((row) => row.conversationId)}::uuid[],
      ${column((row) => row.connectionId)}::uuid[],
      ${column((row) => row.id)}::uuid[],
      ${column((row) => row.direction)}::text[],
      ${column(({ file }) => file.kind)}::text[],
      ${byteaArray(column(({ detail, file }) => encryptDetails(keyring, detail.media.id, mediaDetailsOf(file))))},
      ${timestampArray(column((row) => row.createdAt))}
    ) as n (id, conversation_id, connection_id, message_id, direction, kind, details, created_at)`.execute()
  publishPendingMedia(tx, workspaceId)
}

function mediaDetailsOf({ kind: _kind, ...declared }: MediaInfo): MediaDetails {
  return { ...declared, realType: null }
}

async function insertReactions({ tx, keyring, workspaceId }: WorkspaceTx, messages: readonly Message[]): Promise<void> {
  const rows = messages.flatMap(({ id, connectionId, detail }) =>
    detail?.reaction === undefined
      ? []
      : [{ id, about: externalIndex(keyring, connectionId, detail.reaction.externalId) }],
  )
  if (rows.length === 0) return
  await tx`
    insert into message_reactions (workspace_id, message_id, about_index)
    select ${workspaceId}::uuid, n.message_id, n.about_index
    from unnest(
      ${rows.map(({ id }) => id)}::uuid[],
      ${byteaArray(rows.map(({ about }) => about))}
    ) as n (message_id, about_index)`.execute()
}

/**
 * Deletes the rows of these messages' files with their keys, so the stored bytes can no longer be decrypted; a cleanup
 * job deletes them. A download in progress finds no row to update.
 */
export async function deleteMediaOf(tx: Tx, workspaceId: string, messageIds: readonly string[]): Promise<number> {
  const deleted = await tx`
    delete from media
    where workspace_id = ${workspaceId}
      and message_id = any (${[...messageIds]}::uuid[])`
  return deleted.count
}

/** Returns the id of the file of a message, by the platform's id of the message. */
export async function findFileOf(
  { sql, keyring, workspaceId }: WorkspaceSql,
  connectionId: string,
  externalId: string,
): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`
    select f.id
    from messages m
    join media f
      on f.workspace_id = m.workspace_id
      and f.message_id = m.id
    where m.workspace_id = ${workspaceId}
      and m.connection_id = ${connectionId}
      and m.external_index = ${externalIndex(keyring, connectionId, externalId)}`
  return row?.id
}

export interface ReadableFile {
  secret: FileKey
  kind: MediaKind
  /** Content type of the response. */
  type: string
  isInline: boolean
  name: string | null
}

interface FileRow {
  kind: MediaKind
  state: MediaState
  details: Buffer
  fileKey: Buffer | null
  storedAs: string | null
  previewStoredAs: string | null
  bytes: number | null
}

/** Reader of a file; `conversationId` limits it to that conversation. */
interface FileReader {
  workspaceId: string
  actorId: string
  conversationId?: string | null
}

/**
 * Returns what is needed to decrypt a file of the workspace, or its preview. Uploads that are not attached to a message
 * are visible only to their uploader. Throws 404 if the file is not available.
 */
export async function openMedia(
  { db, keyStore }: ReadDeps,
  { workspaceId, actorId, conversationId = null }: FileReader,
  mediaId: string,
  part: 'file' | 'preview',
): Promise<ReadableFile> {
  const keyring = await keyStore.keyring(workspaceId)
  const [row] = await db.sql<FileRow[]>`
    select kind, state, details, file_key as "fileKey", stored_as as "storedAs",
      preview_stored_as as "previewStoredAs", size_bytes::float8 as bytes
    from media
    where workspace_id = ${workspaceId}
      and id = ${mediaId}
      and (message_id is not null or created_by = ${actorId})
      ${conversationId === null ? db.sql`` : db.sql`and conversation_id = ${conversationId}`}`
  if (row === undefined) throw notFound('File not found. Use a file id from the conversation.')
  const { state, kind, fileKey, storedAs, bytes } = row
  if (state !== 'here' || fileKey === null || storedAs === null || bytes === null) throw mediaUnavailable(state)
  const keys = decryptFileKeys(keyring, mediaId, fileKey)
  if (part === 'preview') {
    if (keys.preview === null || row.previewStoredAs === null)
      throw notFound('The file has no preview. Download the file instead.')
    const secret = { id: row.previewStoredAs, ...keys.preview }
    return { secret, kind, type: 'image/webp', isInline: true, name: null }
  }
  const { realType, name = null } = decryptDetails(keyring, mediaId, row.details)
  const isInline = isInlineType(realType)
  const secret = { id: storedAs, key: keys.file, bytes }
  return {
    secret,
    kind,
    type: isInline ? realType : downloadType,
    isInline,
    name: name === null ? null : safeName(name),
  }
}

function mediaUnavailable(state: MediaState) {
  const hint =
    state === 'coming' ? 'It is being downloaded: try again in a moment.' : 'The download failed: fetch it again.'
  return notFound(`The file is not available. ${hint}`, { state })
}
