import type { Sql, Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import type { MediaKind } from '../../channels/channel-event.ts'
import type { FileToUpload, MediaLimits } from '../../channels/media-transport.ts'
import { decryptFile } from '../../media/encrypted-file.ts'
import type { MediaStore } from '../../media/store/store.ts'
import type { PlainTx, ReadDeps, WorkspaceTx } from '../conversation/conversation.ts'
import { decryptDetails, decryptFileKeys, type MediaDetails } from './media.ts'

/** Uploaded file, attached to a message or not. */
export interface Upload {
  id: string
  kind: MediaKind
  /** Whether a message already has it. */
  isAttached: boolean
  details: MediaDetails
  bytes: number
  /** The platform's id of the file, until it expires. */
  platform: { id: string; livesUntil: Date } | null
}

/** Locks a stored upload, so that no two messages attach it. */
export async function lockUpload(work: WorkspaceTx, conversationId: string, id: string): Promise<Upload | null> {
  const { tx, keyring, workspaceId } = work
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

/** Returns kind and digest of an uploaded file, attached or not; null if there is none. */
export async function findUploadDigest(
  { db, keyStore }: ReadDeps,
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

/** Attaches an upload to a message, under its lock. */
export async function attachUpload(work: PlainTx, id: string, messageId: string): Promise<void> {
  const { tx, workspaceId, now } = work
  await tx`
    update media
    set message_id = ${messageId},
      updated_at = ${now}
    where workspace_id = ${workspaceId}
      and id = ${id}
      and message_id is null`
}

const encryptionContext = (id: string) => ({ table: 'media', row: id, column: 'platform_id' })

function decryptPlatformFile(keyring: Keyring, { id, platform_id: encrypted }: UploadRow): Upload['platform'] {
  if (encrypted === null) return null
  const platform = JSON.parse(keyring.decryptText(encryptionContext(id), encrypted)) as {
    id: string
    livesUntil: string
  }
  return { id: platform.id, livesUntil: new Date(platform.livesUntil) }
}

/** Stores the platform's id of a file and its expiry. */
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

/** Clears an id that the platform no longer knows: later sends wait until the file is uploaded again. */
export async function clearPlatformId(tx: Tx, workspaceId: string, id: string): Promise<void> {
  await tx`
    update media
    set platform_id = null
    where workspace_id = ${workspaceId}
      and id = ${id}`
}

export interface FileDeps extends ReadDeps {
  store: Pick<MediaStore, 'open'>
}

/** Opens a file for upload to a platform with these limits; null if it is not stored. */
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

/** Returns which of the accepted types a file has: the detected type or, if that is not accepted, the declared one. */
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
