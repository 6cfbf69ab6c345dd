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
    /** A route whose answers repeat a token: compressed, their length tells it to whoever chose what stands beside it. */
    repeatsToken?: boolean
  }
}

/** What is shorter fits a packet or two anyway. */
const worthwhileBytes = 1024
/** Up to here handing it to another thread costs more than it spares; beyond, others would wait. */
const atOnceBytes = 128 * 1024

type Body = string | Buffer
type Done = (error: Error | null, body?: unknown) => void
type Encoder = (typeof encoders)['br' | 'gzip']

// The cheapest that are any good: beyond these, each hundredth that an answer gets smaller costs a tenth more time.
const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }
const deflate = { level: 2 }
// A stream's pieces go on as they come: the first may be there to say that it has begun.
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

/** Compresses what is long enough for it and made of text, as the caller takes it. Hijacked replies never come by here. */
export function compressAnswers(app: App): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    if (payload instanceof Readable) return compressStream(request, reply, payload, done)
    if (typeof payload === 'string' || Buffer.isBuffer(payload)) return compressBody(request, reply, payload, done)
    const body = payload instanceof Response ? takeJson(payload, reply) : null
    if (body === null) return done(null, payload)
    body.then((text) => compressBody(request, reply, text, done), done)
  })
}

function compressBody(request: FastifyRequest, reply: FastifyReply, body: Body, done: Done) {
  const size = Buffer.byteLength(body)
  const encoder = size < worthwhileBytes ? null : encoderFor(request, reply)
  if (encoder === null) return done(null, body)
  if (size <= atOnceBytes) return done(null, encoder.atOnce(body))
  encoder.aside(body, done)
}

/** How long a stream becomes nobody knows; files are. */
function compressStream(request: FastifyRequest, reply: FastifyReply, source: Readable, done: Done) {
  const encoder = encoderFor(request, reply)?.stream()
  if (encoder === undefined) return done(null, source)
  // Of a source that fails before its first byte the caller gets an error, which is plain again.
  encoder.once('error', () => {
    if (reply.raw.headersSent) return
    for (const name of ['content-encoding', paddingHeader]) {
      reply.removeHeader(name)
      reply.raw.removeHeader(name)
    }
  })
  // Either one's end is the other's; the reply tells of failures.
  pipeline(source, encoder).catch(() => {})
  done(null, encoder)
}

/** The text of a JSON answer that came as the web's own `Response`, of which the reply takes the rest; else null. */
function takeJson(answer: Response, reply: FastifyReply): Promise<string> | null {
  if (answer.body === null || !(answer.headers.get('content-type') ?? '').startsWith('application/json')) return null
  reply.code(answer.status)
  for (const [name, value] of answer.headers) reply.header(name, value)
  return answer.text()
}

/** What the answer is to be compressed by, which its headers say from here on; null when it stays as it is. */
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
  // A tag names the very bytes, and a range counts them: what has either was prepared in each encoding, or in none.
  if (['content-encoding', 'etag', 'content-range'].some((name) => reply.hasHeader(name))) return false
  return textual.test(String(reply.getHeader('content-type') ?? ''))
}

const paddingHeader = 'x-padding'
/** One byte for how much, the others for up to 128 characters. */
const noise = Buffer.alloc(97)

/**
 * Hides the exact length from whoever watches the line: an answer may hold what a stranger wrote beside what they want to
 * know, and is shorter when the two are alike. Random characters, since HTTP/2 says in a byte what was said before.
 */
function padding(): string {
  fillRandom(noise)
  return noise.toString('base64url', 1).slice((noise[0] ?? 0) % 128)
}

export type Encoding = 'br' | 'gzip' | 'identity'

/** The encoding that suits us best of those that an `Accept-Encoding` header takes; weights count only where they are 0. */
export function acceptedEncoding(header: string | undefined): Encoding {
  if (header === undefined) return 'identity'
  const isTaken = new Map<string, boolean>()
  for (const part of header.toLowerCase().split(',')) {
    const [name = '', weight] = part.split(';').map((piece) => piece.trim())
    isTaken.set(name, weight === undefined || !/^q=0(?:\.0*)?$/.test(weight))
  }
  if (isTaken.get('br') === true) return 'br'
  return (isTaken.get('gzip') ?? isTaken.get('x-gzip') ?? isTaken.get('*')) === true ? 'gzip' : 'identity'
}
