import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { invalid } from '../errors.ts'
import type { App } from '../route.ts'

/** Routes in `serve` receive their bodies as streams, whatever the content type. */
export function acceptRawBodies(app: App, serve: (scope: App) => void): void {
  app.register(async (scope: App) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, body, done) => done(null, body))
    serve(scope)
  })
}

/** Returns the uploaded file, and its length if the request states it. Throws 400 without a body. */
export function readUpload(request: Pick<FastifyRequest, 'body' | 'headers'>) {
  const body = request.body as Readable | null | undefined
  if (!body) throw invalid('', 'must be the bytes of the file')
  const length = request.headers['content-length']
  return {
    length: length === undefined ? null : Number(length),
    bytes: iterateBody(body),
  }
}

/** Iterates over a body without destroying it on early exit, which would close the connection and lose the response. */
export const iterateBody = (body: Readable): AsyncIterable<Buffer> => body.iterator({ destroyOnReturn: false })

const discardTimeoutMs = 30_000

/** Discards the rest of a refused body for up to 30 s: a client that is still sending would lose the response. */
export const discardBody = (request: FastifyRequest, reply: FastifyReply) => (error: unknown) => {
  const { raw } = request
  reply.raw.once('finish', () => {
    if (raw.complete) return
    raw.resume()
    const timer = setTimeout(() => raw.destroy(), discardTimeoutMs).unref()
    raw.once('end', () => clearTimeout(timer)).once('close', () => clearTimeout(timer))
  })
  throw error
}
