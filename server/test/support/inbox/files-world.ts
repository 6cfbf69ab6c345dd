import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import type { MediaKind } from '../../../src/channels/channel-event.ts'
import { inspectFile } from '../../../src/inbox/media/inspect-file.ts'
import type { MediaDetails } from '../../../src/inbox/media/media.ts'
import { encryptDetails, encryptFileKeys } from '../../../src/inbox/media/media.ts'
import { signedInMember } from '../member.ts'
import { declaredPicture } from './declared-files.ts'
import { inboxWorld } from './inbox-world.ts'
import { storedFiles, storedMessage } from './stored-messages.ts'
import { storeFile } from './uploads.ts'

/** Smallest possible picture. */
export const png: Buffer = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

export type FilesWorld = Awaited<ReturnType<typeof filesWorld>>
type FileDetails = Partial<MediaDetails> & { kind?: MediaKind }

/** Creates a workspace with a member whose customers send files. */
export async function filesWorld() {
  const w = await inboxWorld()
  const { db, keyStore, clock, media, workspaceId } = w
  await media.writeMark('a mark')
  const member = await signedInMember(w)
  const path = (mediaId: string, after = '') => `/inbox/media/${mediaId}${after}`
  const coming = async ({ kind = 'image', ...fileDetails }: FileDetails = {}) => {
    clock.advance(1000)
    const externalId = `wamid.${randomUUID()}`
    await w.customerWrites('Look', {
      externalId,
      kind: 'image',
      detail: { media: { ...declaredPicture, kind, ...fileDetails } },
    })
    const { id: messageId, conversationId, detail } = await storedMessage(w, externalId)
    assert.ok(detail?.media)
    return { mediaId: detail.media.id, messageId, conversationId }
  }
  return {
    ...w,
    member,
    /** Path below the workspace for `member.call`, and the full path. */
    path,
    url: (mediaId: string, after?: string) => `/api/team/v1/workspaces/${workspaceId}${path(mediaId, after)}`,
    /** Receives a customer's message whose file has not been fetched. */
    coming,
    /** The same, with the file stored as a fetch would have done. */
    here: async (bytes: Buffer, { preview, ...fileDetails }: FileDetails & { preview?: Buffer } = {}) => {
      const file = await coming(fileDetails)
      const keyring = await keyStore.keyring(workspaceId)
      const watched = inspectFile(Readable.from([bytes]))
      const stored = await storeFile(media, clock.now(), watched.bytes)
      const { realType } = await watched.detected()
      const small = preview && { ...(await storeFile(media, clock.now(), [preview])), bytes: preview.length }
      const { details } = (await storedFiles(w)).find(({ id }) => id === file.mediaId) ?? assert.fail()
      const { source: _, ...known } = details
      await db.sql`
        update media
        set state = 'here',
          details = ${encryptDetails(keyring, file.mediaId, { ...known, realType })},
          file_key = ${encryptFileKeys(keyring, file.mediaId, { file: stored.key, preview: small ?? null })},
          stored_as = ${stored.name},
          preview_stored_as = ${small?.name ?? null},
          size_bytes = ${bytes.length},
          due_at = null
        where workspace_id = ${workspaceId}
          and id = ${file.mediaId}`
      return file
    },
  }
}
