import type { Db } from '../../base/db.ts'
import { notFound } from '../../base/errors.ts'
import type { Vault } from '../../base/sealing/vault.ts'
import type { MediaKind } from '../../channels/channel-event.ts'
import type { FileSecret } from '../../media/sealed-file.ts'
import { downloadType, isInlineType } from './inline-types.ts'
import type { MediaState } from './media.ts'
import { safeName } from './safe-name.ts'
import { openDetails, openFileKeys } from './sealed-media.ts'

/** A file that somebody may read. */
export interface OpenedFile {
  secret: FileSecret
  kind: MediaKind
  /** What a browser is told that it is. */
  type: string
  isInline: boolean
  name: string | null
}

interface Row {
  kind: MediaKind
  state: MediaState
  details: Buffer
  fileKey: Buffer | null
  storedAs: string | null
  previewStoredAs: string | null
  bytes: number | null
}

/** Who wants a file, and of which conversation if it must be of one. */
interface Asker {
  workspaceId: string
  actorId: string
  conversationId?: string | null
}

/**
 * What opens a file of the workspace, or its preview. Uploads that no message has taken are their maker's alone. Throws 404
 * for what is not here.
 */
export async function openMedia(
  { db, vault }: { db: Db; vault: Vault },
  { workspaceId, actorId, conversationId = null }: Asker,
  mediaId: string,
  part: 'file' | 'preview',
): Promise<OpenedFile> {
  const keyring = await vault.keyring(workspaceId)
  const [row] = await db.sql<Row[]>`
    select kind, state, details, file_key as "fileKey", stored_as as "storedAs",
      preview_stored_as as "previewStoredAs", size_bytes::float8 as bytes
    from media
    where workspace_id = ${workspaceId}
      and id = ${mediaId}
      and (message_id is not null or created_by = ${actorId})
      ${conversationId === null ? db.sql`` : db.sql`and conversation_id = ${conversationId}`}`
  if (row === undefined) throw notFound('No file of the workspace has this id. Take an id from the conversation.')
  const { state, kind, fileKey, storedAs, bytes } = row
  if (state !== 'here' || fileKey === null || storedAs === null || bytes === null) throw notHere(state)
  const keys = openFileKeys(keyring, mediaId, fileKey)
  if (part === 'preview') {
    if (keys.preview === null || row.previewStoredAs === null)
      throw notFound('The file has no preview. Read it itself.')
    const secret = { id: row.previewStoredAs, ...keys.preview }
    return { secret, kind, type: 'image/webp', isInline: true, name: null }
  }
  const { realType, name = null } = openDetails(keyring, mediaId, row.details)
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

function notHere(state: MediaState) {
  const hint =
    state === 'coming' ? 'It is being fetched: try again in a moment.' : 'It did not come: try to fetch it again.'
  return notFound(`The file is not here. ${hint}`, { state })
}
