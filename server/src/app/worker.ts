import { createMetricsDoor } from '../access/credentials/team-guard.ts'
import type { App } from '../base/route.ts'
import { createReadiness, serveHealth } from '../http/ops/health.ts'
import { serveMetrics } from '../http/ops/metrics.ts'
import { createServer } from '../http/server/server.ts'
import type { Runtime } from './runtime.ts'

/** The server of a process that only works: it tells how the process is, and serves nobody else. */
export async function buildWorkerApp(runtime: Runtime): Promise<App> {
  const { log, clock, metrics } = runtime
  const app = createServer({ log, clock, observe: metrics.request })
  serveService(app, runtime)
  return app
}

/** What operators and their machines ask of every process. */
export function serveService(app: App, runtime: Runtime): void {
  const { config, db, vault, clock, wallClock = clock, metrics, localToken } = runtime
  // Whether the process is ready is not for those who ask much of it to say.
  serveHealth(app, createReadiness(db))
  const { publicUrl } = config.http
  const { teamToken, metricsToken, sessionIdleMs } = config
  const credentials = { db, vault, clock, wallClock, sessionIdleMs, publicUrl, teamToken, localToken }
  serveMetrics(app, metrics, createMetricsDoor({ ...credentials, metricsToken }))
}
