import { buildApp } from '../../../src/app/app.ts'
import { gaugesOf } from '../../../src/app/gauges.ts'
import { createMemoryLimiter } from '../../../src/auth/rate-limit/limiter.ts'
import type { App } from '../../../src/base/route.ts'
import { loadConfig } from '../../../src/config.ts'
import { createMetrics } from '../../../src/http/monitoring/metrics.ts'
import { openTelemetry, type Telemetry } from '../../../src/http/monitoring/telemetry/telemetry.ts'
import { atEnd } from '../file-lifecycle.ts'
import { callerOf, testApp, testTeamToken, type World } from '../world.ts'
import { type Collector, startCollector } from './collector.ts'

interface TracedApp {
  app: App
  telemetry: Telemetry
  collector: Collector
  /** Like the world's `call`, on the app that is traced. */
  call(w: World): World['call']
}

/** Starts the service of this file again, with a collector of its own. */
export async function startTracedApp(settings: Record<string, string> = {}): Promise<TracedApp> {
  const collector = await startCollector()
  const runtime = await testApp()
  const config = loadConfig({
    PARLEY_TEAM_TOKEN: testTeamToken,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_METRIC_EXPORT_INTERVAL: '600000',
    ...settings,
  })
  const counted = createMetrics(gaugesOf(runtime, 10))
  const telemetry = await openTelemetry(config.telemetry, { log: runtime.log, metrics: counted })
  const { tracer, metrics } = telemetry
  const app = await buildApp({ ...runtime, config, limiter: createMemoryLimiter(runtime.clock), tracer, metrics })
  atEnd(() => app.close())
  return { app, telemetry, collector, call: ({ key }) => callerOf(app, key) }
}
