import { withTimeout } from '../../../base/async/loop.ts'
import type { Tracer } from '../../../base/tracing/span.ts'
import type { TelemetrySettings } from '../../../base/tracing/telemetry-settings.ts'
import type { Metrics } from '../metrics.ts'
import type { TelemetryDeps } from './sdk.ts'

/** What goes to a collector of the operator's. */
export interface Telemetry {
  tracer: Tracer | undefined
  /** The same, some of which is told to the collector as well. */
  metrics: Metrics
  /** Hands over what waits; in a few seconds it is over, whatever the collector does. */
  close(): Promise<void>
}

/** For a collector that does not answer: the process has to end all the same. */
const closeWithinMs = 3_000

/** Starts telling the collector of the settings. Without one nothing is even loaded. */
export async function openTelemetry(settings: TelemetrySettings | null, deps: TelemetryDeps): Promise<Telemetry> {
  if (settings === null) return { tracer: undefined, metrics: deps.metrics, close: async () => {} }
  const { openSdk } = await import('./sdk.ts')
  const sdk = openSdk(settings, deps)
  const { log } = deps
  return {
    tracer: sdk.tracer,
    metrics: sdk.metrics,
    close: () =>
      withTimeout(closeWithinMs, sdk.close).catch((error: unknown) =>
        log.warn('failed to export the last traces and metrics at shutdown', {}, error),
      ),
  }
}
