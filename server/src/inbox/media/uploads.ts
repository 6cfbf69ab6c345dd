import { releaseMemory } from '../../base/bytes/release-memory.ts'
import type { Tx } from '../../base/db.ts'
import { ApiError, badRequest, conflict, invalid, notFound, unavailable } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import { listWorkspacePages } from '../../base/retention.ts'
import { adapterOf, type ChannelAdapters } from '../../channels/adapter.ts'
import type { MediaKind } from '../../channels/channel-event.ts'
import type { Channel } from '../../channels/connection/connection.ts'
import { type MediaLimits, parseMimeType } from '../../channels/media-transport.ts'
import { encryptFile } from '../../media/encrypted-file.ts'
import { StoreError } from '../../media/store/store.ts'
import { conversationNotFound, type Scope } from '../conversation/conversation.ts'
import { requireConversation } from '../conversation/queries.ts'
import type { FetchDeps } from './fetch-media.ts'
import { type DetectedFile, inspectFile, safeName, typeToSend } from './inspect-file.ts'
import type { MediaDetails } from './media.ts'
import { encryptDetails, encryptFileKeys } from './media.ts'
import { storePreview } from './preview.ts'

export type UploadDeps = Pick<FetchDeps, 'db' | 'keyStore' | 'clock' | 'log' | 'store' | 'previews'> & {
  adapters: ChannelAdapters
}

/** A member, a team token or an agent. */
interface Uploader {
  type: 'user' | 'token' | 'agent'
  id: string
}

/** Limits for unattached uploads: number per uploader, bytes per workspace. */
const [maxOpen, maxOpenBytes] = [20, 2 * 1024 ** 3]
const [hourMs, retentionMs] = [3_600_000, 86_400_000]

export interface NewUpload {
  conversationId: string
  kind: MediaKind
  name: string | null
  /** Declared type. */
  type: string | null
  seconds: number | null
  waveform: number[] | null
  /** Declared length; null if unknown. */
  length: number | null
  bytes: AsyncIterable<Uint8Array>
}

export interface UploadResult {
  id: string
  kind: MediaKind
  name: string | null
  type: string
  bytes: number
  width: number | null
  height: number | null
  expiresAt: Date
}

/** Returns what the channel accepts by kind; null if it supports no files. */
export function limitsOf(adapters: ChannelAdapters, channel: Channel): MediaLimits | null {
  return adapterOf(adapters, { channel }).media?.limits ?? null
}

/**
 * Stores a file to be sent. The file is available when this returns; after an error or a crash, a cleanup job deletes
 * leftovers. Throws 404 outside the scope and 4xx for files that the channel does not accept.
 */
export async function receiveUpload(
  deps: UploadDeps,
  scope: Scope,
  actor: Uploader,
  upload: NewUpload,
): Promise<UploadResult> {
  const { db, clock, log, store } = deps
  const conversation = await requireConversation(db.sql, scope, upload.conversationId)
  const limit = limitsOf(deps.adapters, conversation.channel)?.[upload.kind] ?? null
  if (limit === null) throw typeRefused(upload.kind, [])
  if (upload.length !== null && upload.length > limit.bytes) throw tooLarge(limit.bytes)
  const now = clock.now()
  checkQuota(await selectPending(db.sql, scope.workspaceId, actor, now), upload.length ?? 0)
  const stored: string[] = []
  try {
    const storedUpload = await storeUpload(deps, scope.workspaceId, upload, limit, stored)
    await insertUpload(deps, { ...scope, ...storedUpload, actor, conversation, kind: upload.kind, now })
    const { id, details, type, bytes } = storedUpload
    const { name = null, width = null, height = null } = details
    const expiresAt = new Date(now.getTime() + retentionMs)
    return { id, kind: upload.kind, name, type, bytes, width, height, expiresAt }
  } catch (error) {
    for (const name of stored) {
      // A cleanup job deletes leftovers.
      await store.remove(name).catch((problem: unknown) => log.warn('failed to delete an upload', scope, problem))
    }
    if (!(error instanceof StoreError)) throw error
    log.error('failed to store an upload', { workspaceId: scope.workspaceId }, error)
    throw unavailable('File storage is unavailable. Try again later, or contact the operator of this service.')
  }
}

type StoredUpload = Awaited<ReturnType<typeof storeUpload>>

/** Stores the file while it arrives and returns its properties. */
async function storeUpload(
  deps: UploadDeps,
  workspaceId: string,
  upload: NewUpload,
  limit: { bytes: number; types: readonly string[] },
  stored: string[],
) {
  const { clock, store } = deps
  const storedAs = newId(clock.now())
  const body = limitBody(upload.bytes, limit.bytes)
  const inspected = inspectFile(body.bytes)
  const encrypted = encryptFile(storedAs, inspected.bytes)
  stored.push(storedAs)
  try {
    await store.put(storedAs, encrypted.stored)
  } catch (error) {
    throw problemOf(body, limit.bytes) ?? inspected.failure() ?? error
  }
  const detected = await inspected.detected()
  if (detected.bytes === 0) throw invalid('', 'must not be empty: send the bytes of the file')
  if (upload.length !== null && upload.length !== detected.bytes) throw invalid('', 'does not match Content-Length')
  const declared = parseMimeType(upload.type)
  const type = typeToSend({ ...upload, declared, realType: detected.realType, isText: body.isText() }, limit.types)
  if (type === null) throw typeRefused(upload.kind, limit.types)
  const secret = { id: storedAs, key: encrypted.key, bytes: detected.bytes }
  const preview = await storePreview(deps, { stored, workspaceId }, secret, detected)
  return {
    ...{ id: newId(clock.now()), storedAs, type, bytes: detected.bytes, previewStoredAs: preview?.storedAs ?? null },
    keys: { file: encrypted.key, preview },
    details: detailsOf(upload, detected, type, preview),
  }
}

function detailsOf(
  { name, seconds, waveform }: NewUpload,
  { bytes, sha256, realType }: DetectedFile,
  mimeType: string,
  preview: { width: number; height: number; placeholder: string } | null,
): MediaDetails {
  return {
    ...{ name: name === null ? null : safeName(name), mimeType, realType, size: bytes, sha256, seconds, waveform },
    ...{ width: preview?.width ?? null, height: preview?.height ?? null, thumbnail: preview?.placeholder ?? null },
    isAnimated: false,
  }
}

interface UploadRow extends StoredUpload {
  workspaceId: string
  conversation: { id: string; connection_id: string }
  actor: Uploader
  kind: MediaKind
  now: Date
}

/** Serializes inserts per workspace, so that concurrent uploads cannot exceed the limits together. */
async function insertUpload({ db, keyStore }: UploadDeps, upload: UploadRow): Promise<void> {
  const { workspaceId, id, conversation, actor, now } = upload
  const keyring = await keyStore.keyring(workspaceId)
  const details = encryptDetails(keyring, id, upload.details)
  const fileKey = encryptFileKeys(keyring, id, upload.keys)
  await db.tx(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtextextended(${`uploads ${workspaceId}`}, 0))`
    checkQuota(await selectPending(tx, workspaceId, actor, now), upload.bytes)
    const inserted = await tx`
      insert into media (
        workspace_id, id, conversation_id, connection_id, direction, kind, state, details, file_key, stored_as,
        preview_stored_as, size_bytes, created_by_type, created_by, created_at, updated_at
      )
      select ${workspaceId}, ${id}, id, connection_id, 'outbound', ${upload.kind}, 'here', ${details}, ${fileKey},
        ${upload.storedAs}, ${upload.previewStoredAs}, ${upload.bytes}, ${actor.type}, ${actor.id}, ${now}, ${now}
      from conversations
      where workspace_id = ${workspaceId}
        and id = ${conversation.id}`
    // The conversation was erased or merged.
    if (inserted.count === 0) throw conversationNotFound()
  })
}

async function selectPending(tx: Tx | UploadDeps['db']['sql'], workspaceId: string, actor: Uploader, now: Date) {
  const [pending] = await tx<{ own: number; bytes: number }[]>`
    select (count(*) filter (where created_by = ${actor.id}))::integer as own,
      coalesce(sum(size_bytes), 0)::float8 as bytes
    from media
    where workspace_id = ${workspaceId}
      and message_id is null
      and created_at > ${new Date(now.getTime() - retentionMs)}`
  return pending ?? { own: 0, bytes: 0 }
}

function checkQuota(pending: { own: number; bytes: number }, bytes: number): void {
  if (pending.own >= maxOpen) {
    throw conflict(`You have ${maxOpen} unsent uploads. Send or remove some of them first.`, {
      code: 'TOO_MANY_UPLOADS',
    })
  }
  if (pending.bytes + bytes <= maxOpenBytes) return
  throw conflict('Unsent uploads take up the 2 GiB of this workspace. Send or remove some first.', {
    code: 'NO_ROOM',
  })
}

function problemOf({ cutOffReason }: IncomingBody, maxBytes: number): ApiError | null {
  if (cutOffReason() === 'too_large') return tooLarge(maxBytes)
  return cutOffReason() === 'silent' ? badRequest('No data received for 30 s. Send the file again.') : null
}

function tooLarge(maxBytes: number): ApiError {
  const message = `Files of this kind can have at most ${maxBytes} bytes. Send a smaller file, or send it as a document.`
  return new ApiError(413, message, { data: { code: 'FILE_TOO_LARGE', maxBytes } })
}

function typeRefused(kind: MediaKind, types: readonly string[]): ApiError {
  const message =
    types.length === 0
      ? `The channel of this conversation does not accept ${kind} files. Send the file as another kind.`
      : `The channel accepts only ${types.join(', ')} as ${kind}. Send another file, or send it as a document.`
  return new ApiError(415, message, { data: { code: 'FILE_TYPE_REFUSED', types } })
}

/** Deletes an upload of the caller. Throws 404 if there is none, or if it is attached to a message. */
export async function removeUpload(
  { db, store, log }: UploadDeps,
  workspaceId: string,
  actor: Uploader,
  conversationId: string,
  id: string,
): Promise<void> {
  const removed = await db.statement(
    (tx) => tx<{ file: string | null; preview: string | null }[]>`
      delete from media
      where workspace_id = ${workspaceId}
        and id = ${id}
        and conversation_id = ${conversationId}
        and message_id is null
        and created_by = ${actor.id}
      returning stored_as as file, preview_stored_as as preview`,
  )
  if (removed.length === 0) throw notFound('Upload not found, or already attached to a message.')
  for (const { file, preview } of removed) {
    for (const name of [file, preview]) {
      if (name === null) continue
      await store.remove(name).catch((error: unknown) => log.warn('failed to delete an upload', { workspaceId }, error))
    }
  }
}

/** Deletes uploads not attached for a day; a cleanup job deletes their bytes. Returns the number deleted. */
export async function deleteAbandonedUploads({ db, clock }: Pick<UploadDeps, 'db' | 'clock'>): Promise<number> {
  // One hour of grace for a send that is using an expiring upload.
  const before = new Date(clock.now().getTime() - retentionMs - hourMs)
  let deletedCount = 0
  for await (const workspaceIds of listWorkspacePages(db)) {
    const { count } = await db.statement(
      (tx) => tx`
        delete from media
        where workspace_id = any (${[...workspaceIds]}::uuid[])
          and message_id is null
          and created_at < ${before}`,
    )
    deletedCount += count
  }
  return deletedCount
}

/** Body of an upload; a chunk is valid until the next is requested. */
interface IncomingBody {
  bytes: AsyncGenerator<Uint8Array>
  /** Why the body was cut off; null if it was not, or if its source failed. */
  cutOffReason(): 'too_large' | 'silent' | null
  /** Whether no NUL was received. */
  isText(): boolean
}

const stallTimeoutMs = 30_000

/** Passes the body through, limited in size and in time without data. */
function limitBody(body: AsyncIterable<Uint8Array>, maxBytes: number, stallMs = stallTimeoutMs): IncomingBody {
  let cutOffReason: 'too_large' | 'silent' | null = null
  let isText = true
  async function* limited() {
    const pieces = body[Symbol.asyncIterator]()
    try {
      for (let size = 0; ; ) {
        const piece = await withTimeout(pieces.next(), stallMs)
        if (piece === null) {
          cutOffReason = 'silent'
          throw new Error('The upload stalled')
        }
        if (piece.done === true) return
        size += piece.value.length
        if (size > maxBytes) {
          cutOffReason = 'too_large'
          throw new Error('The upload is too large')
        }
        if (isText && piece.value.includes(0)) isText = false
        yield piece.value
        releaseMemory(piece.value)
      }
    } finally {
      // Not awaited: a stalled body may never end.
      pieces.return?.()?.catch(() => {})
    }
  }
  return { bytes: limited(), cutOffReason: () => cutOffReason, isText: () => isText }
}

/** Returns null on timeout. */
async function withTimeout<T>(work: Promise<T>, ms: number): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, ms, null)
  })
  work.catch(() => {})
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer))
}
