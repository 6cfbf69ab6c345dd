import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { invalid } from '../errors.ts'
import type { App } from '../route.ts'

/** Routes in here get their bodies as they come, of whatever type. */
export function acceptRawBodies(app: App, serve: (scope: App) => void): void {
  app.register(async (scope: App) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, body, done) => done(null, body))
    serve(scope)
  })
}

/** The file that a request brings, and its length where it was said; throws 400 without one. */
export function broughtBy(request: Pick<FastifyRequest, 'body' | 'headers'>) {
  const body = request.body as Readable | null | undefined
  if (!body) throw invalid('', 'must be the bytes of the file')
  const length = request.headers['content-length']
  return {
    length: length === undefined ? null : Number(length),
    bytes: piecesOf(body),
  }
}

/** The pieces of a body. Left before its end it would take the connection with it, and the answer; these do not. */
export const piecesOf = (body: Readable): AsyncIterable<Buffer> => body.iterator({ destroyOnReturn: false })

const leftForMs = 30_000

/**
 * What is left of a refused body is read and thrown away for 30 s: with a connection that is closed in the middle of it, whoever is
 * still writing would lose the answer.
 */
export const discardBody = (request: FastifyRequest, reply: FastifyReply) => (error: unknown) => {
  const { raw } = request
  reply.raw.once('finish', () => {
    if (raw.complete) return
    raw.resume()
    const ending = setTimeout(() => raw.destroy(), leftForMs).unref()
    raw.once('end', () => clearTimeout(ending)).once('close', () => clearTimeout(ending))
  })
  throw error
}
