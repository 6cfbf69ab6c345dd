import { Readable } from 'node:stream'
import type { Clock } from '../../../src/base/clock.ts'
import type { Db } from '../../../src/base/db.ts'
import type { KeyStore } from '../../../src/base/encryption/key-store.ts'
import { newId } from '../../../src/base/id.ts'
import type { MediaKind } from '../../../src/channels/channel-event.ts'
import type { MediaDetails } from '../../../src/inbox/media/media.ts'
import { encryptDetails, encryptFileKeys } from '../../../src/inbox/media/media.ts'
import { encryptFile } from '../../../src/media/encrypted-file.ts'
import type { MediaStore } from '../../../src/media/store/store.ts'

export interface NewUpload {
  kind: MediaKind
  type: string
  bytes: Buffer
  name?: string
  more?: Partial<MediaDetails>
}

/** Stores a file as an upload by the team does: fetched, and used by no message. */
export async function addUpload(
  { db, keyStore, clock, media }: { db: Db; keyStore: KeyStore; clock: Clock; media: MediaStore },
  { workspaceId, conversationId }: { workspaceId: string; conversationId: string },
  { kind, type, bytes, name, more }: NewUpload,
): Promise<string> {
  const now = clock.now()
  const id = newId(now)
  const { name: storedAs, key } = await storeFile(media, now, [bytes])
  const keyring = await keyStore.keyring(workspaceId)
  const details: MediaDetails = { name: name ?? null, mimeType: type, realType: type, size: bytes.length, ...more }
  await db.sql`
    insert into media (
      workspace_id, id, conversation_id, connection_id, direction, kind, state, details, file_key, stored_as, size_bytes,
      created_at, updated_at
    )
    select ${workspaceId}, ${id}, id, connection_id, 'outbound', ${kind}, 'here', ${encryptDetails(keyring, id, details)},
      ${encryptFileKeys(keyring, id, { file: key, preview: null })}, ${storedAs}, ${bytes.length}, ${now}, ${now}
    from conversations
    where workspace_id = ${workspaceId}
      and id = ${conversationId}`
  return id
}

/** Encrypts a file into the store. Returns its name there, and its key. */
export async function storeFile(media: MediaStore, now: Date, bytes: Iterable<Uint8Array> | AsyncIterable<Uint8Array>) {
  const name = newId(now)
  const { key, stored } = encryptFile(name, Readable.from(bytes))
  await media.put(name, stored)
  return { name, key }
}
