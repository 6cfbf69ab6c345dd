import type { IncomingMessage } from 'node:http'
import type { App } from '../../base/route.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route's body may take longer than others: it says by itself when nothing comes any more. */
    takesItsTime?: boolean
  }
}

export interface BodyTime {
  withinMs: number
  lookEveryMs: number
}

const usual: BodyTime = { withinMs: 30_000, lookEveryMs: 5_000 }

/**
 * Cuts requests whose body is not there in time. The server's own limit is one for all routes, and files take longer than it
 * may be for the rest; so that one is long, and this is the short one.
 */
export function limitBodyTime(app: App, { withinMs, lookEveryMs }: BodyTime = usual): void {
  const arriving = new Map<IncomingMessage, number>()
  app.addHook('onRequest', ({ raw, headers, routeOptions }, _reply, done) => {
    const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
    if (hasBody && routeOptions.config?.takesItsTime !== true) arriving.set(raw, performance.now())
    done()
  })
  app.addHook('preValidation', ({ raw }, _reply, done) => {
    // What is handed on as a stream goes on arriving.
    if (isOver(raw)) arriving.delete(raw)
    done()
  })
  const look = () => {
    const before = performance.now() - withinMs
    for (const [raw, since] of arriving) {
      if (isOver(raw)) arriving.delete(raw)
      else if (since < before) {
        arriving.delete(raw)
        // As the server itself does with what is late.
        const late = Object.assign(new Error('The body is late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
        app.server.emit('clientError', late, raw.socket)
      }
    }
  }
  const timer = setInterval(look, lookEveryMs).unref()
  app.addHook('onClose', async () => clearInterval(timer))
}

const isOver = ({ complete, readableEnded, destroyed }: IncomingMessage) => complete || readableEnded || destroyed
