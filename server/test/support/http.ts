import { systemClock } from '../../src/base/clock.ts'
import { createLog } from '../../src/base/log.ts'
import type { App } from '../../src/base/route.ts'
import { createServer, type ServerOptions } from '../../src/http/server/server.ts'
import { atEnd } from './file-lifecycle.ts'
import { listen } from './wire/raw-http.ts'

/** Returns a server without a database, and its log lines. */
export function testServer(options: Partial<ServerOptions> = {}): { app: App; lines: string[] } {
  const lines: string[] = []
  const log = createLog('debug', { write: (line) => lines.push(line) })
  const app = createServer({ log, clock: systemClock, ...options })
  atEnd(() => app.close())
  return { app, lines }
}

/** Serves these routes on a port. */
export async function servedAt(routes: (app: App) => unknown, options: Partial<ServerOptions> = {}) {
  const { app, lines } = testServer(options)
  await routes(app)
  return { app, lines, port: await listen(app) }
}
