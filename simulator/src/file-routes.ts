import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { notFound } from '../../server/src/base/errors.ts'
import { type App, oneOf } from '../../server/src/base/route.ts'
import { numberFor } from './control-routes.ts'
import { closedObject } from './control-schema.ts'
import { type Fault, takeFault } from './faults.ts'
import { bytesOf, encryptedBytesOf, type StoredFile } from './files/file-store.ts'
import { storeUpload } from './files/inspect-file.ts'
import { shownFile } from './files/present-file.ts'
import { addReadyMade, readyMadeNames } from './files/sample-files.ts'
import { answerBadly } from './graph/fault-answer.ts'
import type { Platform } from './platform.ts'

/** A complete file to send. */
interface ServedFile {
  mimeType: string
  size: number
  bytes: () => Readable
}

/** Sends a file as the platform does, or as a fault says. */
export function serveFile(platform: Platform, reply: FastifyReply, file: ServedFile): FastifyReply {
  const fault = takeFault(platform.faults, 'file', [])
  return fault === undefined ? sendWhole(reply, file) : sendWrongly(platform, reply, file, fault)
}

const sendWhole = (reply: FastifyReply, { mimeType, size, bytes }: ServedFile): FastifyReply =>
  reply.type(mimeType).header('content-length', size).send(bytes())

function sendWrongly(platform: Platform, reply: FastifyReply, file: ServedFile, fault: Fault): FastifyReply {
  switch (fault.effect) {
    case 'expired':
    case 'not_found':
      return sendNotFound(reply)
    case 'slow':
      return reply
        .type(file.mimeType)
        .header('content-length', file.size)
        .send(streamSlowly(platform, file, fault.afterMs))
    // The length matches what is sent, but is smaller than the size announced before.
    case 'wrong_size': {
      const size = Math.floor(file.size / 2)
      return reply
        .type(file.mimeType)
        .header('content-length', size)
        .send(changed(file, (all) => all.subarray(0, size)))
    }
    case 'wrong_type':
      return reply.type('text/html; charset=utf-8').send('<!doctype html><script>alert(1)</script>')
    case 'wrong_hash':
      return reply.type(file.mimeType).header('content-length', file.size).send(changed(file, changeEnd))
    case 'endless':
      return reply.type(file.mimeType).send(endless(file))
    case 'late':
      platform.scheduler.after(fault.afterMs, () => void sendWhole(reply, file))
      return reply
    case 'refuse':
      return reply
        .code(fault.httpStatus ?? 403)
        .type('text/plain')
        .send('')
    default:
      return answerBadly(fault, reply) as FastifyReply
  }
}

/** Answers for an invalid or expired address. */
export const sendNotFound = (reply: FastifyReply): FastifyReply => reply.code(404).type('text/plain').send('Not Found')

const changed = ({ bytes }: ServedFile, change: (all: Buffer) => Buffer): Readable =>
  Readable.from(
    (async function* () {
      yield change(Buffer.concat(await bytes().toArray()))
    })(),
  )

// Same length and type, but one bit near the end differs.
function changeEnd(all: Buffer): Buffer {
  const other = Buffer.from(all)
  const last = other.length - 1
  other[last] = (other[last] ?? 0) ^ 1
  return other
}

const pieces = 10

/** Streams a file slowly: a piece now, the next ones after waits. */
function streamSlowly({ scheduler }: Platform, { bytes }: ServedFile, overMs: number): Readable {
  return Readable.from(
    (async function* () {
      const all = Buffer.concat(await bytes().toArray())
      const length = Math.max(1, Math.ceil(all.length / pieces))
      for (let at = 0; at < all.length; at += length) {
        if (at > 0) await new Promise<void>((resolve) => scheduler.after(overMs / pieces, resolve))
        yield all.subarray(at, at + length)
      }
    })(),
  )
}

const zeros = Buffer.alloc(64 * 1024)

/** Starts as the file does, and continues until the client disconnects. */
const endless = ({ bytes }: ServedFile): Readable =>
  Readable.from(
    (async function* () {
      yield* bytes()
      for (;;) yield zeros
    })(),
  )

const tags = ['Files']
const numberId = Type.Optional(
  Type.String({ maxLength: 40, description: 'Id of the number that the file is for; defaults to the first' }),
)
const name = Type.Optional(Type.String({ minLength: 1, maxLength: 240, description: 'Name of the file' }))

const fileQuery = closedObject({
  numberId,
  name,
  type: Type.String({ minLength: 3, maxLength: 120, description: 'Media type', example: 'image/jpeg' }),
  isVoice: Type.Optional(Type.Boolean({ description: 'Converts a browser recording to a voice note' })),
})
const madeFile = closedObject({ numberId, name: oneOf(readyMadeNames), fileName: name })
const nameQuery = closedObject({ name })
const fileParams = Type.Object({ fileId: Type.String({ maxLength: 40 }) })
const sealedParams = Type.Object({ path: Type.String({ maxLength: 60 }) })

/** Registers routes for customers' files: upload, ready-made files, display, and download by linked devices. */
export function fileRoutes(app: App, platform: Platform): void {
  const brings = { tags, summary: 'Upload a file for a customer to send', querystring: fileQuery }
  app.post('/simulator/files', { schema: brings }, async (request, reply) => {
    const { numberId } = numberFor(platform, request.query.numberId)
    const file = await storeUpload(platform, numberId, { body: request.body, ...request.query })
    return reply.code(201).send(describe(file))
  })
  const makes = { tags, summary: 'Create a ready-made file', body: madeFile }
  app.post('/simulator/files/made', { schema: makes }, ({ body }, reply) => {
    const { numberId } = numberFor(platform, body.numberId)
    return reply.code(201).send(describe(addReadyMade(platform.files, numberId, body.name, body.fileName)))
  })
  const shows = { tags, summary: 'Download a file', params: fileParams, querystring: nameQuery }
  app.get('/simulator/files/:fileId', { schema: shows }, (request, reply) => {
    const file = platform.files.find(request.params.fileId)
    if (file === undefined) throw notFound('File not found or expired')
    return showFile({ ...file, name: request.query.name ?? file.name }, request.headers.range, reply)
  })
  const fetches = { hide: true, params: sealedParams }
  app.get('/linked/media/:path', { schema: fetches }, (request, reply) => {
    const { path } = request.params
    platform.journal.add({ kind: 'call', at: platform.clock.now(), method: 'GET', path: '/linked/media', body: null })
    const { file, sealed } = platform.linked.encryptedFiles.get(path) ?? {}
    if (file === undefined || sealed === undefined || platform.files.find(file.id) === undefined)
      return sendNotFound(reply)
    const size = (Math.floor(file.size / 16) + 1) * 16 + 10
    return serveFile(platform, reply, {
      mimeType: 'application/octet-stream',
      size,
      bytes: () => encryptedBytesOf(file, sealed),
    })
  })
}

const describe = (file: StoredFile) => ({ fileId: file.id, ...shownFile('document', file), kind: undefined })

const inlineTypes = /^(image\/(jpeg|png|webp|gif)|audio\/[a-z0-9.+-]{1,40}|video\/[a-z0-9.+-]{1,40})(;|$)/

/** For a phone's page: shows pictures and sounds inline, sends the rest as a download, and lets nothing execute. */
function showFile(file: StoredFile, range: string | undefined, reply: FastifyReply): FastifyReply {
  const isShown = inlineTypes.test(file.mimeType)
  reply
    .type(isShown ? file.mimeType : 'application/octet-stream')
    .header(
      'content-disposition',
      isShown ? 'inline' : `attachment; filename*=UTF-8''${encodeURIComponent((file.name ?? 'file').toWellFormed())}`,
    )
    .header('content-security-policy', "default-src 'none'; sandbox")
    .header('x-content-type-options', 'nosniff')
    .header('cache-control', 'private, max-age=3600')
    .header('accept-ranges', 'bytes')
  const [, from, to] = /^bytes=(\d{1,12})-(\d{0,12})$/.exec(range ?? '') ?? []
  const first = Number(from ?? 0)
  const last = Math.min(to ? Number(to) : file.size - 1, file.size - 1)
  if (from === undefined || first > last) return reply.header('content-length', file.size).send(bytesOf(file))
  return reply
    .code(206)
    .header('content-range', `bytes ${first}-${last}/${file.size}`)
    .header('content-length', last - first + 1)
    .send(bytesOf(file, first, last))
}
