import { withTimeout } from '../../../base/async/loop.ts'
import type { Tracer } from '../../../base/tracing/span.ts'
import type { TelemetrySettings } from '../../../base/tracing/telemetry-settings.ts'
import type { Metrics } from '../metrics.ts'
import type { TelemetryDeps } from './sdk.ts'

/** Tracing and metrics that are exported to the operator's collector. */
export interface Telemetry {
  tracer: Tracer | undefined
  /** The given metrics, some of which are also exported in another form. */
  metrics: Metrics
  /** Exports pending data; ends within `closeWithinMs`, even if the collector does not respond. */
  close(): Promise<void>
}

/** Milliseconds to wait at shutdown for a collector that does not respond. */
const closeWithinMs = 3_000

/** Starts the export according to the settings. Without settings, does not load the SDK. */
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
