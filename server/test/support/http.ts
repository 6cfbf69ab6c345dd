import { systemClock } from '../../src/base/clock.ts'
import { createLog } from '../../src/base/log.ts'
import type { App } from '../../src/base/route.ts'
import { createServer, type ServerOptions } from '../../src/http/server/server.ts'

/** A server without a database, and the lines that it logged. */
export function testServer(options: Partial<ServerOptions> = {}): { app: App; lines: string[] } {
  const lines: string[] = []
  const log = createLog('debug', { write: (line) => lines.push(line) })
  return { app: createServer({ log, clock: systemClock, ...options }), lines }
}
