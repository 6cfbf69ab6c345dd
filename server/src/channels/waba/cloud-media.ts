import { randomBytes } from 'node:crypto'
import type { StreamAnswer } from '../../base/outgoing/guarded-fetch.ts'
import type { OpenStream } from '../../base/outgoing/stream.ts'
import type { Connection } from '../connection/connection.ts'
import {
  type FileToUpload,
  type MediaLimits,
  type MediaTransport,
  type OpenedMedia,
  parseMimeType,
  parseSha256,
  type UploadResult,
} from '../media-transport.ts'
import { parseCount } from '../untrusted-values.ts'
import type { interpretError } from './errors.ts'
import { type JsonObject, objectOf, parseJson, textOf } from './json.ts'
import type { PlatformHttp } from './platform-call.ts'

/** Media calls to a platform or partner with the official API's answers. No method throws. */
interface CloudMediaCalls<C extends Connection> {
  /** Returns the URL, type, size and digest of a file. */
  describe(connection: C, id: string): Promise<MediaDescription>
  /** Returns the URL and headers for the download; null for an invalid URL. */
  targetOf(connection: C, url: string): HttpTarget | null
  uploadTarget(connection: C): HttpTarget
  interpretError: typeof interpretError
}

export type MediaDescription = { ok: true; body: JsonObject } | { ok: false; errorCode: string; isDown: boolean }

export interface HttpTarget {
  url: string
  headers: Record<string, string>
}

const megabyte = 1024 * 1024
const idleTimeoutMs = 15_000
const maxAnswerBytes = 64 * 1024
/** The file servers reject requests without a user agent. */
export const agentHeader = { 'user-agent': 'Parley' }
/** Uploads last 30 days; one day less, because a file used on the last day may be gone when the message is sent. */
const uploadLifetimeMs = 29 * 86_400_000
/** `Unknown object`, in the official and the older API. */
const goneCodes = new Set(['100', 'http_404', 'http_410', '1006'])
/** Allowed ids: the id becomes part of a path. */
const idShape = /^[A-Za-z0-9][\w.:=-]{0,199}$/

const images = ['image/jpeg', 'image/png']
const videos = ['video/mp4', 'video/3gpp']
const sounds = ['audio/aac', 'audio/amr', 'audio/mpeg', 'audio/mp4', 'audio/ogg']
const documents = [
  'text/plain',
  'text/csv',
  'application/pdf',
  'application/msword',
  'application/vnd.ms-excel',
  'application/vnd.ms-powerpoint',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation',
]

/** Limits of the official platform. It allows 500 KB for animated stickers and 100 KB for static ones. */
export const cloudLimits: MediaLimits = {
  image: { bytes: 5 * megabyte, types: images },
  video: { bytes: 16 * megabyte, types: videos },
  audio: { bytes: 16 * megabyte, types: sounds },
  voice: { bytes: 16 * megabyte, types: ['audio/ogg'] },
  document: { bytes: 100 * megabyte, types: documents },
  sticker: { bytes: 500 * 1024, types: ['image/webp'] },
}

/** Media transport for the official API, wherever it runs. */
export function cloudMedia<C extends Connection>(http: PlatformHttp, calls: CloudMediaCalls<C>): MediaTransport<C> {
  return {
    limits: cloudLimits,
    maxCaptionLength: 1024,
    maxDownloadBytes: 100 * megabyte,
    open: async (connection, source, maxBytes, signal) => {
      if (source.by !== 'id' || !idShape.test(source.id)) return { outcome: 'refused', errorCode: 'invalid_id' }
      // The URL is valid for five minutes, so each attempt requests a new one.
      const described = await calls.describe(connection, source.id)
      if (!described.ok) {
        const { errorCode, isDown } = described
        return goneCodes.has(errorCode) ? { outcome: 'gone', errorCode } : { outcome: 'failed', errorCode, isDown }
      }
      const target = calls.targetOf(connection, textOf(described.body.url) ?? '')
      if (target === null) return { outcome: 'failed', errorCode: 'no_address', isDown: false }
      return openFile(http, target, described.body, maxBytes, signal)
    },
    upload: (connection, file, signal) => upload(http, calls, connection, file, signal),
  }
}

async function openFile(
  { outgoing }: PlatformHttp,
  { url, headers }: HttpTarget,
  description: JsonObject,
  maxBytes: number,
  signal: AbortSignal,
): Promise<OpenedMedia> {
  const size = parseCount(description.file_size, Number.MAX_SAFE_INTEGER)
  if (size !== null && size > maxBytes) return { outcome: 'too_large', size }
  const answer = await outgoing.stream({
    method: 'GET',
    url,
    headers: { ...agentHeader, ...headers },
    body: null,
    idleTimeoutMs,
    maxAnswerBytes: maxBytes,
    signal,
  })
  const opened = toOpenedMedia(answer, maxBytes)
  if (opened.outcome !== 'opened') return opened
  const mimeType = parseMimeType(description.mime_type) ?? opened.mimeType
  return { ...opened, mimeType, size: size ?? opened.size, sha256: parseSha256(description.sha256) }
}

/** Interprets the response to a file download. */
export function toOpenedMedia(answer: StreamAnswer, maxBytes: number): OpenedMedia {
  if (answer.outcome === 'failed') {
    const isRefused = answer.error === 'forbidden_address' || answer.error === 'invalid_address'
    if (isRefused) return { outcome: 'refused', errorCode: answer.error }
    return { outcome: 'failed', errorCode: answer.code, isDown: false }
  }
  const { status, length, bytes } = answer
  if (status === 200 && (length === null || length <= maxBytes)) {
    return {
      outcome: 'opened',
      bytes,
      size: length,
      mimeType: parseMimeType(answer.headers['content-type']),
      sha256: null,
    }
  }
  answer.cancel()
  if (status === 200 && length !== null) return { outcome: 'too_large', size: length }
  if (status === 410) return { outcome: 'gone', errorCode: 'http_410' }
  return { outcome: 'failed', errorCode: `http_${status}`, isDown: false }
}

async function upload<C extends Connection>(
  { outgoing, clock }: PlatformHttp,
  calls: CloudMediaCalls<C>,
  connection: C,
  file: FileToUpload,
  signal: AbortSignal,
): Promise<UploadResult> {
  const { url, headers } = calls.uploadTarget(connection)
  const { contentType, body } = multipart(file)
  const answer = await outgoing.stream({
    method: 'POST',
    url,
    headers: { ...headers, accept: 'application/json', 'content-type': contentType },
    body,
    idleTimeoutMs: 2 * idleTimeoutMs,
    maxAnswerBytes,
    signal,
  })
  if (answer.outcome === 'failed') return { outcome: 'failed', errorCode: answer.code, isDown: false }
  const text = await readToEnd(answer)
  if (text === null) return { outcome: 'failed', errorCode: 'answer', isDown: false }
  const { status } = answer
  if (status < 200 || status >= 300) return refusalOf(calls.interpretError(parseJson(text), status))
  const platformId = textOf(objectOf(parseJson(text)).id)
  if (platformId === null) return { outcome: 'failed', errorCode: 'no_media_id', isDown: false }
  return { outcome: 'taken', platformId, livesUntil: new Date(clock.now().getTime() + uploadLifetimeMs) }
}

function refusalOf({ errorCode, meaning }: ReturnType<typeof interpretError>): UploadResult {
  if (meaning.outcome === 'unreachable') return { outcome: 'failed', errorCode, isDown: false }
  if (meaning.effect === 'connection_unavailable') return { outcome: 'failed', errorCode, isDown: true }
  return { outcome: 'refused', errorCode }
}

/** Builds a multipart form with the file. */
function multipart({ name, mimeType, size, bytes }: FileToUpload) {
  const boundary = `parley-${randomBytes(18).toString('hex')}`
  const field = (key: string, value: string) =>
    `--${boundary}\r\ncontent-disposition: form-data; name="${key}"\r\n\r\n${value}\r\n`
  const disposition = `form-data; name="file"; filename="${escapeQuoted(name ?? 'file')}"`
  const head = Buffer.from(
    `${field('messaging_product', 'whatsapp')}${field('type', mimeType)}` +
      `--${boundary}\r\ncontent-disposition: ${disposition}\r\ncontent-type: ${mimeType}\r\n\r\n`,
  )
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`)
  async function* form() {
    yield head
    yield* bytes()
    yield tail
  }
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: { bytes: form(), length: head.length + size + tail.length },
  }
}

// Escapes as browsers do, so that the name cannot end the quoted string or the line.
const escapeQuoted = (name: string) => name.replace(/["\r\n]/g, (letter) => encodeURIComponent(letter))

/** Reads a response to its end; null if it breaks off. */
export async function readToEnd({ bytes }: OpenStream): Promise<string | null> {
  const chunks: Uint8Array[] = []
  try {
    // Copies each chunk: the stream reuses its memory for the next one.
    for await (const chunk of bytes) chunks.push(Buffer.from(chunk))
    return Buffer.concat(chunks).toString('utf8')
  } catch {
    return null
  }
}
