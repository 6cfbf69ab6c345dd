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
import { fillRandom } from '../../base/random.ts'
import type { App } from '../../base/route.ts'
import { acceptedEncoding } from './accepted-encoding.ts'

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

// The cheapest that are any good: beyond these, each tenth that an answer gets smaller costs as much time again.
const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }
const deflate = { level: 2 }
// A stream's pieces go on as they come: the first may be there to say that it has begun.
const encoders = {
  br: {
    atOnce: (body: string | Buffer) => brotliCompressSync(body, brotli),
    aside: (body: string | Buffer, done: (error: Error | null, packed: Buffer) => void) =>
      brotliCompress(body, brotli, done),
    stream: () => createBrotliCompress({ ...brotli, flush: constants.BROTLI_OPERATION_FLUSH }),
  },
  gzip: {
    atOnce: (body: string | Buffer) => gzipSync(body, deflate),
    aside: (body: string | Buffer, done: (error: Error | null, packed: Buffer) => void) => gzip(body, deflate, done),
    stream: () => createGzip({ ...deflate, flush: constants.Z_SYNC_FLUSH }),
  },
}

/** Compresses what is long enough for it and made of text, as the caller takes it. Hijacked replies never come by here. */
export function compressAnswers(app: App): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    const size = sizeOf(payload)
    if (size < worthwhileBytes || !mayBeCompressed(request, reply)) return done(null, payload)
    varyByEncoding(reply)
    const encoding = acceptedEncoding(request.headers['accept-encoding'])
    if (encoding === 'identity') return done(null, payload)
    const encoder = encoders[encoding]
    reply.header('content-encoding', encoding).header(paddingHeader, padding()).removeHeader('content-length')
    if (payload instanceof Readable) return done(null, compressed(payload, encoder.stream(), reply))
    const body = payload as string | Buffer
    if (size <= atOnceBytes) return done(null, encoder.atOnce(body))
    encoder.aside(body, done)
  })
}

function sizeOf(payload: unknown): number {
  if (typeof payload === 'string' || Buffer.isBuffer(payload)) return Buffer.byteLength(payload)
  // How long it becomes nobody knows; files are.
  return payload instanceof Readable ? Number.POSITIVE_INFINITY : 0
}

const textual = /^(?:text\/(?!event-stream)|application\/(?:json|[\w.-]+\+json|x-ndjson|javascript)|image\/svg\+xml)/

function mayBeCompressed(request: FastifyRequest, reply: FastifyReply): boolean {
  if (request.routeOptions.config.repeatsToken === true) return false
  // A tag names the very bytes, and a range counts them: what has either was prepared in each encoding, or in none.
  if (['content-encoding', 'etag', 'content-range'].some((name) => reply.hasHeader(name))) return false
  return textual.test(String(reply.getHeader('content-type') ?? ''))
}

function varyByEncoding(reply: FastifyReply): void {
  const names = [reply.getHeader('vary') ?? []].flat().join(', ')
  reply.header('vary', names === '' ? 'accept-encoding' : `${names}, accept-encoding`)
}

function compressed(
  source: Readable,
  encoder: ReturnType<typeof createGzip | typeof createBrotliCompress>,
  reply: FastifyReply,
) {
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
  return encoder
}

const paddingHeader = 'x-padding'
const zeros = '0'.repeat(128)
const roll = Buffer.alloc(1)

/**
 * Hides the exact length from whoever watches the line: an answer may hold what a stranger wrote beside what they want to
 * know, and is shorter when the two are alike.
 */
function padding(): string {
  fillRandom(roll)
  return zeros.slice((roll[0] ?? 0) % zeros.length)
}
