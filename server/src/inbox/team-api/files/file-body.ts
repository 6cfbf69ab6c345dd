import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { invalid } from '../../../base/errors.ts'
import type { App } from '../../../base/route.ts'

/** Routes in here get their bodies as they come, of whatever type. */
export function takeRawBodies(app: App, serve: (scope: App) => void): void {
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
    // Left before its end it would take the connection with it, and the answer.
    bytes: body.iterator({ destroyOnReturn: false }),
  }
}

/** What is left of a refused body is not read to its end. */
export const leaveBody = (reply: FastifyReply) => (error: unknown) => {
  reply.header('connection', 'close')
  throw error
}
