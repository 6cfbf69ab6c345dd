import type { ServerResponse } from 'node:http'
import type { App } from '../../server/src/base/route.ts'

/** Tells pages that something changed; they ask for what. */
export interface Live {
  changed(): void
  serve(app: App): void
  stop(): void
}

const gatherMs = 30
const heartbeatMs = 20_000
const maxListeners = 100

export function createLive(): Live {
  const listeners = new Set<ServerResponse>()
  let timer: NodeJS.Timeout | undefined
  const tell = (line: string) => {
    for (const listener of listeners) listener.write(line)
  }
  const heartbeat = setInterval(() => tell(': here\n\n'), heartbeatMs).unref()
  return {
    changed: () => {
      timer ??= setTimeout(() => {
        timer = undefined
        tell('data: changed\n\n')
      }, gatherMs).unref()
    },
    serve: (app) => {
      app.get('/simulator/live', { schema: { hide: true } }, (_request, reply) => {
        if (listeners.size >= maxListeners)
          return reply.code(503).send({ statusCode: 503, statusMessage: 'Too many pages' })
        reply.hijack()
        reply.raw.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
        reply.raw.write('retry: 1000\n\ndata: changed\n\n')
        listeners.add(reply.raw)
        reply.raw.on('close', () => listeners.delete(reply.raw))
        return reply
      })
    },
    stop: () => {
      clearInterval(heartbeat)
      clearTimeout(timer)
      for (const listener of listeners) listener.end()
    },
  }
}
