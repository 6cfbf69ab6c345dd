import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import type { MediaKind } from '../../../src/channels/message-detail.ts'
import { watchFile } from '../../../src/inbox/media/check-file.ts'
import type { MediaDetails } from '../../../src/inbox/media/media.ts'
import { openDetails, sealDetails, sealFileKeys } from '../../../src/inbox/media/sealed-media.ts'
import { signedInMember, type TestMember } from '../member.ts'
import { pictureTold } from './files-told.ts'
import { type InboxWorld, inboxWorld } from './inbox-world.ts'
import { keptMessage } from './kept-messages.ts'
import { storeFile } from './uploads.ts'

/** The smallest picture that there is. */
export const png: Buffer = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

export interface FilesWorld extends InboxWorld {
  member: TestMember
  /** Below the workspace, for `member.call`, and the whole of it. */
  path(mediaId: string, after?: string): string
  url(mediaId: string, after?: string): string
  /** A customer writes with a file, which has not come. */
  coming(told?: Partial<MediaDetails> & { kind?: MediaKind }): Promise<ToldFile>
  /** The same, and it has. */
  here(bytes: Buffer, told?: Partial<MediaDetails> & { kind?: MediaKind; preview?: Buffer }): Promise<ToldFile>
}

export interface ToldFile {
  mediaId: string
  messageId: string
  conversationId: string
}

/** A workspace with a member whose customers send files. */
export async function filesWorld(): Promise<FilesWorld> {
  const w = await inboxWorld()
  await w.media.writeMark('a mark')
  const member = await signedInMember(w)
  const path = (mediaId: string, after = '') => `/inbox/media/${mediaId}${after}`
  const coming: FilesWorld['coming'] = async ({ kind = 'image', ...told } = {}) => {
    w.clock.advance(1000)
    const externalId = `wamid.${randomUUID()}`
    const media = { ...pictureTold, kind, ...told }
    await w.customerWrites('Look', { externalId, kind: 'image', detail: { media } })
    const { id: messageId, conversationId, detail } = await keptMessage(w, externalId)
    assert.ok(detail?.media)
    return { mediaId: detail.media.id, messageId, conversationId }
  }
  return {
    ...w,
    member,
    path,
    url: (mediaId, after) => `/api/team/v1/workspaces/${w.workspaceId}${path(mediaId, after)}`,
    coming,
    here: async (bytes, { preview, ...told } = {}) => {
      const file = await coming(told)
      await arrive(w, file.mediaId, bytes, preview ?? null)
      return file
    },
  }
}

/** Puts the file of a row where a fetch would have put it. */
async function arrive(w: InboxWorld, mediaId: string, bytes: Buffer, preview: Buffer | null): Promise<void> {
  const keyring = await w.vault.keyring(w.workspaceId)
  const now = w.clock.now()
  const watched = watchFile(Readable.from([bytes]))
  const stored = await storeFile(w.media, now, watched.bytes)
  const { realType } = await watched.seen()
  const small = preview === null ? null : { ...(await storeFile(w.media, now, [preview])), bytes: preview.length }
  const [row] = await w.db.sql<{ details: Buffer }[]>`
    select details from media where workspace_id = ${w.workspaceId} and id = ${mediaId}`
  assert.ok(row)
  const { source: _, ...told } = openDetails(keyring, mediaId, row.details)
  await w.db.sql`
    update media
    set state = 'here',
      details = ${sealDetails(keyring, mediaId, { ...told, realType })},
      file_key = ${sealFileKeys(keyring, mediaId, { file: stored.key, preview: small })},
      stored_as = ${stored.name},
      preview_stored_as = ${small?.name ?? null},
      size_bytes = ${bytes.length},
      due_at = null
    where workspace_id = ${w.workspaceId}
      and id = ${mediaId}`
}
