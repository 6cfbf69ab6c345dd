import type { FastifyRequest } from 'fastify'
import type { App } from '../../base/route.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A route whose bodies are files: they may take minutes, and the route itself ends those that stand still. */
    takesFiles?: boolean
  }
}

const lateBody = () => Object.assign(new Error('The body is late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })

/**
 * Answers 408 to a request whose body has not come within the time, and hangs up on one that was answered before its body had come
 * and goes on for longer. Node's own limit knows no routes.
 */
export function limitBodies(app: App, maxMs: number): void {
  const deadlines = new WeakMap<FastifyRequest, NodeJS.Timeout>()
  const end = (request: FastifyRequest) => clearTimeout(deadlines.get(request))
  const begin = (request: FastifyRequest, giveUp: () => unknown) => {
    deadlines.set(request, setTimeout(giveUp, maxMs).unref())
  }
  app.addHook('onRequest', (request, _reply, done) => {
    if (hasBody(request) && request.routeOptions.config.takesFiles !== true) {
      begin(request, () => app.server.emit('clientError', lateBody(), request.raw.socket))
    }
    done()
  })
  app.addHook('preValidation', (request, _reply, done) => {
    // Where a route takes a stream, it has not read it yet.
    if (hasCome(request)) end(request)
    else request.raw.once('end', () => end(request))
    done()
  })
  // One that was refused before its body was looked at: nobody reads the rest, and it must not keep the connection.
  app.addHook('onResponse', (request, _reply, done) => {
    end(request)
    if (hasBody(request) && !hasCome(request) && !request.raw.destroyed) {
      begin(request, () => request.raw.destroy())
      request.raw.once('close', () => end(request))
    }
    done()
  })
}

const hasCome = ({ raw }: FastifyRequest): boolean => raw.complete || raw.readableEnded

function hasBody({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}
