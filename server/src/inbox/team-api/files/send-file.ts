import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import pLimit from 'p-limit'
import { releaseMemory } from '../../../base/bytes/release-memory.ts'
import { ApiError, notFound, tooManyRequests, unavailable } from '../../../base/errors.ts'
import type { Log } from '../../../base/log.ts'
import { stopWaitBudget } from '../../../base/scheduling/work-context.ts'
import { type ByteRange, decryptFile } from '../../../media/encrypted-file.ts'
import { type MediaStore, StoreError } from '../../../media/store/store.ts'
import type { ReadableFile } from '../../media/media-queries.ts'

export interface SendFileDeps {
  store: MediaStore
  log: Log
  /** Asked before each piece, so that it has to be quick as a rule. */
  isStillAllowed: () => Promise<boolean>
  /** How long a reader may take for a piece. */
  stallMs?: number
  /** Once a reader has been waited for so long in all, they have to take so much at least. */
  slowest?: { afterMs: number; bytesPerMs: number }
}

const maxChunkWaitMs = 60_000
const slowestReader = { afterMs: 60_000, bytesPerMs: 8 }

/** Nothing of a file may run or load anything, should it be opened by itself. Our page shows a PDF in a frame, and nothing else. */
const contentSecurityPolicy = (type: string): string =>
  `default-src 'none'; sandbox; frame-ancestors ${type === 'application/pdf' ? "'self'" : "'none'"}`

/** Answers with a file, or the part of it that was asked for. */
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
    throw new ApiError(416, `The file has ${bytes} bytes. Ask for some of these.`, { headers: contentRange })
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
  const pieces = await decryptPieces(deps, file, { start, end })
  stopWaitBudget()
  reply.hijack()
  reply.raw.writeHead(status, { ...(reply.getHeaders() as Record<string, string>), ...answer })
  await sendPieces(deps, pieces, reply.raw, { requestId: request.id, route: request.routeOptions.url })
  return reply
}

/** A caller that has it sends what it has, several of them, or `*`. */
function isOneOf(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  return header.split(',').some((one) => ['*', etag, `W/${etag}`].includes(one.trim()))
}

/** The pieces, of which the first is there: what does not open is told before anything is sent. */
export async function decryptPieces(
  { store }: Pick<SendFileDeps, 'store'>,
  { secret }: ReadableFile,
  range: ByteRange,
): Promise<AsyncGenerator<Uint8Array>> {
  const pieces = decryptFile(secret, range, (start, end) => store.open(secret.id, start, end))
  try {
    const first = await pieces.next()
    return from(first, pieces)
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    if (error.kind === 'missing')
      throw notFound('The file is not in the store any more. Whoever runs this service may have it in a backup.')
    throw unavailable('The file cannot be read at the moment. Try again, or tell whoever runs this service.')
  }
}

async function* from(first: IteratorResult<Uint8Array>, rest: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    if (first.done !== true) yield first.value
    yield* rest
  } finally {
    await rest.return(undefined)
  }
}

/** One piece at a time: nothing more is read, nor held, before the reader has taken it. */
async function sendPieces(
  { log, isStillAllowed, stallMs, slowest }: SendFileDeps,
  pieces: AsyncGenerator<Uint8Array>,
  out: ServerResponse,
  fields: { requestId: string; route: string | undefined },
): Promise<void> {
  const isTaken = createPacedWriter(out, stallMs, slowest)
  try {
    for await (const piece of pieces) {
      if (!(await isStillAllowed()) || !(await isTaken(piece))) {
        out.destroy()
        return
      }
      releaseMemory(piece)
    }
    out.end()
  } catch (error) {
    log.error('file download aborted: reading from the store failed', fields, error)
    out.destroy()
  }
}

/** Whether a reader takes each piece, in time and not too slowly on the whole: a piece now and then would keep a place for hours. */
function createPacedWriter(out: ServerResponse, stallMs = maxChunkWaitMs, { afterMs, bytesPerMs } = slowestReader) {
  let [size, waitedMs] = [0, 0]
  return async (piece: Uint8Array): Promise<boolean> => {
    const begunMs = performance.now()
    if (!(await write(out, piece, stallMs))) return false
    waitedMs += performance.now() - begunMs
    size += piece.length
    return waitedMs <= afterMs || size >= waitedMs * bytesPerMs
  }
}

/** Whether the reader has taken it in time. */
function write(out: ServerResponse, piece: Uint8Array, withinMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (isTaken: boolean) => {
      clearTimeout(timer)
      out.off('close', left)
      resolve(isTaken)
    }
    const left = () => end(false)
    const timer = setTimeout(left, withinMs)
    if (out.destroyed) return left()
    out.once('close', left)
    out.write(piece, (error) => end(!error))
  })
}

const endings: Record<string, string> = {
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

/** With the name in both spellings of the field's standard: older readers take the one in plain letters. */
function dispositionOf({ isInline, name, kind, type }: ReadableFile): string {
  const full = name ?? `${kind}${endings[type] ?? ''}`
  const plain = full.replace(/[^ !#$&+\-.0-9A-Z^_`a-z{}~]/g, '_')
  const encoded = encodeURIComponent(full).replace(/['()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`)
  return `${isInline ? 'inline' : 'attachment'}; filename="${plain}"; filename*=UTF-8''${encoded}`
}

const maxHeaderLength = 200

/**
 * What a `Range` header asks of so many bytes. Null: all of it, as for every header that is not one range of bytes, which
 * the field's standard has a server pass over.
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

/** How many files may be on their way at a time. */
interface FileSlots {
  ofMember: number
  ofWorkspace: number
  ofAll: number
}

/** Each that is read holds a chunk of 64 KiB, whoever reads it however slowly: few workspaces cannot take all of them. */
export const downloadSlots: FileSlots = { ofMember: 16, ofWorkspace: 64, ofAll: 1_024 }
/** Each that is taken in holds some 200 KiB, or 10 MiB on its way to a bucket. */
export const uploadSlots: FileSlots = { ofMember: 4, ofWorkspace: 8, ofAll: 16 }

const waitingPerSlot = 8

type Limit = ReturnType<typeof createLimit>

/** Gives members, their workspaces and all together so many places each; who comes later waits for one, as long as few do. */
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
    throw tooManyRequests('Too many files are on their way at once. Wait until some of them have come.', 5, {
      code: 'RATE_LIMITED',
    })
  }
}

/** A limit of its own for each name, for as long as somebody uses it. */
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
