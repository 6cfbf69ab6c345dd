import { systemClock } from '../../src/base/clock.ts'
import { createLog } from '../../src/base/log.ts'
import type { App } from '../../src/base/route.ts'
import { createServer, type ServerOptions } from '../../src/http/server/server.ts'
import { atEnd } from './file-end.ts'
import { listen } from './wire/raw-http.ts'

/** A server without a database, and the lines that it logged. */
export function testServer(options: Partial<ServerOptions> = {}): { app: App; lines: string[] } {
  const lines: string[] = []
  const log = createLog('debug', { write: (line) => lines.push(line) })
  const app = createServer({ log, clock: systemClock, ...options })
  atEnd(() => app.close())
  return { app, lines }
}

/** The same with these routes, at a port. */
export async function servedAt(routes: (app: App) => unknown, options: Partial<ServerOptions> = {}) {
  const { app, lines } = testServer(options)
  await routes(app)
  return { app, lines, port: await listen(app) }
}
