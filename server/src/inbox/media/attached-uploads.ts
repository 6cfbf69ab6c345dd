import type { Db, Sql, Tx } from '../../base/db.ts'
import type { KeyStore } from '../../base/encryption/key-store.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import type { MediaKind } from '../../channels/channel-event.ts'
import type { FileToUpload, MediaLimits } from '../../channels/media-transport.ts'
import { decryptFile } from '../../media/encrypted-file.ts'
import type { MediaStore } from '../../media/store/store.ts'
import type { WorkspaceTx } from '../conversation/conversation.ts'
import { decryptDetails, decryptFileKeys, type MediaDetails } from './media.ts'

/** A file of the team that a message takes, or has taken. */
export interface Upload {
  id: string
  kind: MediaKind
  /** A message has it already. */
  isAttached: boolean
  details: MediaDetails
  bytes: number
  /** The platform's id of it, while that lives. */
  platform: { id: string; livesUntil: Date } | null
}

/** One that is here, under lock, so that no two messages take it. */
export async function lockUpload(
  { tx, keyring, workspaceId }: WorkspaceTx,
  conversationId: string,
  id: string,
): Promise<Upload | null> {
  const [row] = await tx<UploadRow[]>`
    select id, kind, message_id, details, size_bytes::float8 as bytes, platform_id
    from media
    where workspace_id = ${workspaceId}
      and id = ${id}
      and conversation_id = ${conversationId}
      and direction = 'outbound'
      and state = 'here'
    for update`
  if (row === undefined) return null
  const { kind, message_id: messageId, bytes } = row
  const details = decryptDetails(keyring, id, row.details)
  return { id, kind, isAttached: messageId !== null, details, bytes, platform: decryptPlatformFile(keyring, row) }
}

/** What a file of the team is, by kind and bytes, whether or not a message has taken it; null for one that is not there. */
export async function findUploadDigest(
  { db, keyStore }: { db: Db; keyStore: KeyStore },
  workspaceId: string,
  conversationId: string,
  id: string,
): Promise<string | null> {
  const keyring = await keyStore.keyring(workspaceId)
  const [row] = await db.sql<{ kind: MediaKind; details: Buffer }[]>`
    select kind, details
    from media
    where workspace_id = ${workspaceId}
      and id = ${id}
      and conversation_id = ${conversationId}
      and direction = 'outbound'`
  if (row === undefined) return null
  const { sha256 = null } = decryptDetails(keyring, id, row.details)
  return sha256 === null ? null : `${row.kind} ${sha256}`
}

interface UploadRow {
  id: string
  kind: MediaKind
  message_id: string | null
  details: Buffer
  bytes: number
  platform_id: Buffer | null
}

/** Makes an upload the file of a message, under the lock of it. */
export async function attachUpload(
  tx: Tx,
  workspaceId: string,
  id: string,
  messageId: string,
  now: Date,
): Promise<void> {
  await tx`
    update media
    set message_id = ${messageId},
      updated_at = ${now}
    where workspace_id = ${workspaceId}
      and id = ${id}
      and message_id is null`
}

const encryptionContext = (id: string) => ({ table: 'media', row: id, column: 'platform_id' })

function decryptPlatformFile(keyring: Keyring, { id, platform_id: sealed }: UploadRow): Upload['platform'] {
  if (sealed === null) return null
  const platform = JSON.parse(keyring.decryptText(encryptionContext(id), sealed)) as { id: string; livesUntil: string }
  return { id: platform.id, livesUntil: new Date(platform.livesUntil) }
}

/** Notes how the platform calls a file, and until when. */
export async function storePlatformId(
  { tx, keyring, workspaceId }: WorkspaceTx,
  id: string,
  platform: NonNullable<Upload['platform']>,
): Promise<void> {
  await tx`
    update media
    set platform_id = ${keyring.encrypt(encryptionContext(id), JSON.stringify(platform))}
    where workspace_id = ${workspaceId}
      and id = ${id}`
}

/** The platform does not know the file any more: those behind its send wait until it is given anew. */
export async function clearPlatformId(tx: Tx, workspaceId: string, id: string): Promise<void> {
  await tx`
    update media
    set platform_id = null
    where workspace_id = ${workspaceId}
      and id = ${id}`
}

export interface FileDeps {
  db: Db
  keyStore: KeyStore
  store: Pick<MediaStore, 'open'>
}

/** A file as a platform with these limits is given it; null when it is not here. */
export function openUpload(
  { db, keyStore, store }: FileDeps,
  limits: MediaLimits,
  workspaceId: string,
  id: string,
): Promise<FileToUpload | null> {
  return keyStore.withKeyring(workspaceId, async (keyring) => {
    const row = await findFile(db.sql, workspaceId, id)
    if (row === undefined) return null
    const details = decryptDetails(keyring, id, row.details)
    const { file: key } = decryptFileKeys(keyring, id, row.fileKey)
    const { kind, storedAs, bytes: size } = row
    return {
      id,
      kind,
      mimeType: acceptedType(details, limits[kind]?.types ?? []) ?? unknownType,
      name: details.name ?? null,
      size,
      seconds: details.seconds ?? null,
      waveform: details.waveform ?? null,
      bytes: () =>
        decryptFile({ id: storedAs, key, bytes: size }, { start: 0, end: size }, (start, end) =>
          store.open(storedAs, start, end),
        ),
    }
  })
}

const unknownType = 'application/octet-stream'

/** Which of the types that a platform takes a file is: as its bytes say or, where these say something else, as declared. */
export function acceptedType({ realType, mimeType }: MediaDetails, types: readonly string[]): string | null {
  const known = [realType, mimeType].map((type) => type?.split(';')[0]?.trim() ?? '')
  return known.find((type) => types.includes(type)) ?? null
}

async function findFile(sql: Sql, workspaceId: string, id: string) {
  const [row] = await sql<{ kind: MediaKind; details: Buffer; fileKey: Buffer; storedAs: string; bytes: number }[]>`
    select kind, details, file_key as "fileKey", stored_as as "storedAs", size_bytes::float8 as bytes
    from media
    where workspace_id = ${workspaceId}
      and id = ${id}
      and state = 'here'
      and file_key is not null
      and stored_as is not null`
  return row
}
