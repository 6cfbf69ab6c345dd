import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import {
  brotliCompress,
  brotliCompressSync,
  constants,
  createBrotliCompress,
  createGzip,
  gzip,
  gzipSync,
} from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { fillRandom } from '../../base/id.ts'
import type { App } from '../../base/route.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set for routes whose responses repeat a secret token: their compressed length would leak it (BREACH). */
    repeatsToken?: boolean
  }
}

/** Smaller responses fit into one or two packets anyway. */
const minBytes = 1024
/** Up to this size, a synchronous call is cheaper than another thread; larger ones would block other requests. */
const maxSyncBytes = 128 * 1024

type Body = string | Buffer
type Done = (error: Error | null, body?: unknown) => void
type Encoder = (typeof encoders)['br' | 'gzip']

// The cheapest useful levels: higher ones cost a tenth more time for each percent saved.
const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }
// A window of 8 KB holds several items of a list. The default, 32 KB, would allocate 256 KB for each response, not 64.
const deflate = { level: 2, windowBits: 13, memLevel: 6 }
// Streams flush each chunk: the first one can be a signal that the response has started.
const encoders = {
  br: {
    atOnce: (body: Body) => brotliCompressSync(body, brotli),
    aside: (body: Body, done: Done) => brotliCompress(body, brotli, done),
    stream: () => createBrotliCompress({ ...brotli, flush: constants.BROTLI_OPERATION_FLUSH }),
  },
  gzip: {
    atOnce: (body: Body) => gzipSync(body, deflate),
    aside: (body: Body, done: Done) => gzip(body, deflate, done),
    stream: () => createGzip({ ...deflate, flush: constants.Z_SYNC_FLUSH }),
  },
}

/** Compresses textual responses above the minimum size, if the client accepts it. Hijacked replies skip this hook. */
export function compressResponses(app: App): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    if (payload instanceof Readable) return compressStream(request, reply, payload, done)
    if (typeof payload === 'string' || Buffer.isBuffer(payload)) return compressBody(request, reply, payload, done)
    const body = payload instanceof Response ? readJsonResponse(payload, reply) : null
    if (body === null) return done(null, payload)
    body.then((text) => compressBody(request, reply, text, done), done)
  })
}

function compressBody(request: FastifyRequest, reply: FastifyReply, body: Body, done: Done) {
  const size = Buffer.byteLength(body)
  const encoder = size < minBytes ? null : encoderFor(request, reply)
  if (encoder === null) return done(null, body)
  if (size <= maxSyncBytes) return done(null, encoder.atOnce(body))
  encoder.aside(body, done)
}

/** Compresses without a minimum size: the length of a stream is unknown, and files are large enough. */
function compressStream(request: FastifyRequest, reply: FastifyReply, source: Readable, done: Done) {
  const encoder = encoderFor(request, reply)?.stream()
  if (encoder === undefined) return done(null, source)
  // If the source fails before its first byte, the error response is not compressed.
  encoder.once('error', () => {
    if (reply.raw.headersSent) return
    for (const name of ['content-encoding', paddingHeader]) {
      reply.removeHeader(name)
      reply.raw.removeHeader(name)
    }
  })
  // The pipeline destroys both streams on failure; the reply reports it.
  pipeline(source, encoder).catch(() => {})
  done(null, encoder)
}

/** Returns the text of a JSON `Response` and copies its status and headers to the reply; null for other responses. */
function readJsonResponse(answer: Response, reply: FastifyReply): Promise<string> | null {
  if (answer.body === null || !(answer.headers.get('content-type') ?? '').startsWith('application/json')) return null
  reply.code(answer.status)
  for (const [name, value] of answer.headers) reply.header(name, value)
  return answer.text()
}

/** Returns the encoder and sets the headers for it; null if the response is not compressed. */
function encoderFor(request: FastifyRequest, reply: FastifyReply): Encoder | null {
  if (!mayBeCompressed(request, reply)) return null
  const names = [reply.getHeader('vary') ?? []].flat().join(', ')
  reply.header('vary', names === '' ? 'accept-encoding' : `${names}, accept-encoding`)
  const encoding = acceptedEncoding(request.headers['accept-encoding'])
  if (encoding === 'identity') return null
  reply.header('content-encoding', encoding).header(paddingHeader, padding()).removeHeader('content-length')
  return encoders[encoding]
}

const textual =
  /^(?:text\/(?!event-stream)|application\/(?:json|[\w.-]{1,100}\+json|x-ndjson|javascript)|image\/svg\+xml)/

function mayBeCompressed(request: FastifyRequest, reply: FastifyReply): boolean {
  if (request.routeOptions.config.repeatsToken === true) return false
  // An ETag or a range refers to exact bytes: such responses exist in each encoding already, or in none.
  if (['content-encoding', 'etag', 'content-range'].some((name) => reply.hasHeader(name))) return false
  return textual.test(String(reply.getHeader('content-type') ?? ''))
}

const paddingHeader = 'x-padding'
/** First byte: length of the padding; the others: up to 128 characters. */
const paddingBytes = Buffer.alloc(97)

/**
 * Hides the exact length of the response from an observer: it can contain text of an attacker next to a secret, and
 * compresses better if the two match (BREACH). Random characters, because HTTP/2 encodes repeated headers in one byte.
 */
function padding(): string {
  fillRandom(paddingBytes)
  return paddingBytes.toString('base64url', 1).slice((paddingBytes[0] ?? 0) % 128)
}

export type Encoding = 'br' | 'gzip' | 'identity'

/** Returns our preferred encoding among those in `Accept-Encoding`; ignores weights except 0. */
export function acceptedEncoding(header: string | undefined): Encoding {
  if (header === undefined) return 'identity'
  const accepted = new Map<string, boolean>()
  for (const part of header.toLowerCase().split(',')) {
    const [name = '', weight] = part.split(';').map((piece) => piece.trim())
    accepted.set(name, weight === undefined || !/^q=0(?:\.0*)?$/.test(weight))
  }
  if (accepted.get('br') === true) return 'br'
  return (accepted.get('gzip') ?? accepted.get('x-gzip') ?? accepted.get('*')) === true ? 'gzip' : 'identity'
}
