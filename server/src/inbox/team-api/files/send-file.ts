import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import pLimit from 'p-limit'
import { releaseMemory } from '../../../base/bytes/release-memory.ts'
import type { Clock } from '../../../base/clock.ts'
import { ApiError, notFound, tooManyRequests, unavailable } from '../../../base/errors.ts'
import type { Log } from '../../../base/log.ts'
import { stopWaitBudget } from '../../../base/scheduling/work-context.ts'
import { type ByteRange, decryptFile } from '../../../media/encrypted-file.ts'
import { type MediaStore, StoreError } from '../../../media/store/store.ts'
import type { ReadableFile } from '../../media/media-queries.ts'

/** Interval at which the permission of a reader is checked again during a download. */
const checkAgainMs = 10_000

/** Returns a function that checks the permission again from time to time. */
export function checkedAgain(clock: Clock, isAllowed: () => Promise<boolean>): () => Promise<boolean> {
  let checkedAt = clock.now().getTime()
  return async () => {
    const now = clock.now().getTime()
    if (now - checkedAt < checkAgainMs) return true
    checkedAt = now
    return isAllowed()
  }
}

export interface SendFileDeps {
  store: MediaStore
  log: Log
  /** Called before each chunk, so it must usually be fast. */
  isStillAllowed: () => Promise<boolean>
  /** Maximum time for a reader to take one chunk. */
  stallMs?: number
  /** Minimum rate of a reader, applied after a total waiting time. */
  minRate?: { afterMs: number; bytesPerMs: number }
}

const maxChunkWaitMs = 60_000
const defaultMinRate = { afterMs: 60_000, bytesPerMs: 8 }

/** Blocks scripts and subresources if the file is opened directly. Only our page may frame it, and only a PDF. */
const contentSecurityPolicy = (type: string): string =>
  `default-src 'none'; sandbox; frame-ancestors ${type === 'application/pdf' ? "'self'" : "'none'"}`

export async function sendFile(
  deps: SendFileDeps,
  file: ReadableFile,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { bytes, id } = file.secret
  const etag = `"${id}"`
  const headers = {
    etag,
    'cache-control': 'private, no-cache',
    'content-security-policy': contentSecurityPolicy(file.type),
  }
  if (isOneOf(request.headers['if-none-match'], etag)) return reply.code(304).headers(headers).send()
  const condition = request.headers['if-range']
  const range = condition === undefined || condition === etag ? parseRange(request.headers.range, bytes) : null
  if (range === 'beyond') {
    const contentRange = { 'content-range': `bytes */${bytes}` }
    throw new ApiError(416, `The file has ${bytes} bytes. Request a range within them.`, { headers: contentRange })
  }
  const { start, end } = range ?? { start: 0, end: bytes }
  const answer = {
    ...headers,
    'content-type': file.type,
    'content-disposition': dispositionOf(file),
    'content-length': String(end - start),
    'accept-ranges': 'bytes',
    ...(range !== null && { 'content-range': `bytes ${start}-${end - 1}/${bytes}` }),
  }
  const status = range === null ? 200 : 206
  if (request.method === 'HEAD') return reply.code(status).headers(answer).send()
  const chunks = await decryptChunks(deps, file, { start, end })
  stopWaitBudget()
  reply.hijack()
  reply.raw.writeHead(status, { ...(reply.getHeaders() as Record<string, string>), ...answer })
  await sendChunks(deps, chunks, reply.raw, { requestId: request.id, route: request.routeOptions.url })
  return reply
}

/** Matches `If-None-Match`, which contains one or several ETags or `*`. */
function isOneOf(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  return header.split(',').some((one) => ['*', etag, `W/${etag}`].includes(one.trim()))
}

/** Returns the chunks, with the first already read: decryption errors must precede the response. */
export async function decryptChunks(
  { store }: Pick<SendFileDeps, 'store'>,
  { secret }: ReadableFile,
  range: ByteRange,
): Promise<AsyncGenerator<Uint8Array>> {
  const chunks = decryptFile(secret, range, (start, end) => store.open(secret.id, start, end))
  try {
    const first = await chunks.next()
    return prepend(first, chunks)
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    if (error.kind === 'missing')
      throw notFound('The file is missing from the store. The operator of this service may have a backup.')
    throw unavailable('The file cannot be read right now. Try again later, or contact the operator of this service.')
  }
}

async function* prepend(
  first: IteratorResult<Uint8Array>,
  rest: AsyncGenerator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    if (first.done !== true) yield first.value
    yield* rest
  } finally {
    await rest.return(undefined)
  }
}

/** Sends one chunk at a time: reads the next only when the reader has taken the previous one. */
async function sendChunks(
  { log, isStillAllowed, stallMs, minRate }: SendFileDeps,
  chunks: AsyncGenerator<Uint8Array>,
  out: ServerResponse,
  fields: { requestId: string; route: string | undefined },
): Promise<void> {
  const isWritten = createPacedWriter(out, stallMs, minRate)
  try {
    for await (const chunk of chunks) {
      if (!(await isStillAllowed()) || !(await isWritten(chunk))) {
        out.destroy()
        return
      }
      releaseMemory(chunk)
    }
    out.end()
  } catch (error) {
    log.error('file download aborted: reading from the store failed', fields, error)
    out.destroy()
  }
}

/**
 * Returns a writer that tells whether the reader takes each chunk in time and fast enough overall. Otherwise a slow
 * reader could occupy a slot for hours.
 */
function createPacedWriter(out: ServerResponse, stallMs = maxChunkWaitMs, { afterMs, bytesPerMs } = defaultMinRate) {
  let [size, waitedMs] = [0, 0]
  return async (chunk: Uint8Array): Promise<boolean> => {
    const startedMs = performance.now()
    if (!(await write(out, chunk, stallMs))) return false
    waitedMs += performance.now() - startedMs
    size += chunk.length
    return waitedMs <= afterMs || size >= waitedMs * bytesPerMs
  }
}

/** Resolves to whether the reader took the chunk in time. */
function write(out: ServerResponse, chunk: Uint8Array, withinMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (isWritten: boolean) => {
      clearTimeout(timer)
      out.off('close', onClose)
      resolve(isWritten)
    }
    const onClose = () => end(false)
    const timer = setTimeout(onClose, withinMs)
    if (out.destroyed) return onClose()
    out.once('close', onClose)
    out.write(chunk, (error) => end(!error))
  })
}

const extensions: Record<string, string> = {
  'image/jpeg': '.jpg',
  'image/png': '.png',
  'image/webp': '.webp',
  'image/gif': '.gif',
  'video/mp4': '.mp4',
  'audio/mp4': '.m4a',
  'audio/x-m4a': '.m4a',
  'audio/mpeg': '.mp3',
  'audio/aac': '.aac',
  'audio/amr': '.amr',
  'audio/ogg': '.ogg',
  'application/pdf': '.pdf',
}

/** Returns Content-Disposition with both forms of the file name: plain for old clients, and encoded (RFC 6266). */
function dispositionOf({ isInline, name, kind, type }: ReadableFile): string {
  const full = name ?? `${kind}${extensions[type] ?? ''}`
  const plain = full.replace(/[^ !#$&+\-.0-9A-Z^_`a-z{}~]/g, '_')
  const encoded = encodeURIComponent(full).replace(/['()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`)
  return `${isInline ? 'inline' : 'attachment'}; filename="${plain}"; filename*=UTF-8''${encoded}`
}

const maxHeaderLength = 200

/**
 * Parses a `Range` header. Null means the whole file, also for headers other than a single byte range, which servers
 * may ignore (RFC 9110).
 */
export function parseRange(header: string | undefined, size: number): ByteRange | 'beyond' | null {
  if (header === undefined || header.length > maxHeaderLength) return null
  const [, first, last] = /^bytes=[ \t]*([0-9]*)-([0-9]*)[ \t]*$/i.exec(header) ?? []
  if (first === undefined || last === undefined) return null
  if (first === '') return last === '' ? null : lastBytes(Number(last), size)
  const start = Number(first)
  if (last !== '' && Number(last) < start) return null
  if (start >= size) return 'beyond'
  return { start, end: last === '' ? size : Math.min(Number(last) + 1, size) }
}

function lastBytes(count: number, size: number): ByteRange | 'beyond' {
  if (count === 0 || size === 0) return 'beyond'
  return { start: Math.max(0, size - count), end: size }
}

/** A member, or an agent's key. */
interface Reader {
  workspaceId: string
  actor: { id: string }
}

/** Maximum number of concurrent transfers. */
interface FileSlots {
  ofMember: number
  ofWorkspace: number
  ofAll: number
}

/** Each download holds a chunk of 64 KiB even for slow readers. Limits per workspace leave slots for others. */
export const downloadSlots: FileSlots = { ofMember: 16, ofWorkspace: 64, ofAll: 1_024 }
/** Each upload holds about 200 KiB, or 10 MiB if it is sent on to a bucket. */
export const uploadSlots: FileSlots = { ofMember: 4, ofWorkspace: 8, ofAll: 16 }

const waitingPerSlot = 8

type Limit = ReturnType<typeof createLimit>

/** Limits transfers per member, per workspace and in total. Further ones wait, up to a queue limit. */
export function createFileSlots({
  ofMember,
  ofWorkspace,
  ofAll,
}: FileSlots): <T>(reader: Reader, work: () => Promise<T>) => Promise<T> {
  const members = createLimitPerName(ofMember)
  const workspaces = createLimitPerName(ofWorkspace)
  const all = createLimit(ofAll)
  return ({ workspaceId, actor }, work) => members(actor.id, () => workspaces(workspaceId, () => all(work)))
}

function createLimit(atOnce: number) {
  const inTurn = pLimit(atOnce)
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (inTurn.pendingCount < atOnce * waitingPerSlot) return inTurn(work)
    throw tooManyRequests('Too many concurrent file transfers. Wait until some have finished.', 5, {
      code: 'RATE_LIMITED',
    })
  }
}

/** Returns limits by name, kept only while in use. */
function createLimitPerName(atOnce: number) {
  const limits = new Map<string, { limit: Limit; users: number }>()
  return async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const one = limits.get(name) ?? { limit: createLimit(atOnce), users: 0 }
    limits.set(name, one)
    one.users++
    try {
      return await one.limit(work)
    } finally {
      one.users--
      if (one.users === 0) limits.delete(name)
    }
  }
}
