/** Which telemetry is exported, and where. */
export interface TelemetrySettings {
  serviceName: string
  /** Resource attributes of the process. */
  attributes: Record<string, string>
  traces: (Collector & { sampler: SamplerName; ratio: number; queue: SpanQueue }) | null
  metrics: (Collector & { everyMs: number; timeoutMs: number }) | null
}

export interface Collector {
  url: string
  headers: Record<string, string>
  callTimeoutMs: number
}

/** Queue of spans to export; further spans are dropped. */
export interface SpanQueue {
  size: number
  batchSize: number
  everyMs: number
  timeoutMs: number
}

export const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const
export type SamplerName = (typeof samplers)[number]

const exporters = ['otlp', 'none'] as const
const protocols = ['http/protobuf'] as const
const httpSchemes = ['http:', 'https:']

/** Reads settings. Returns null for a missing setting, and for an invalid one, which it reports. */
export interface SettingsReader {
  text(name: string): string | null
  integer(name: string, min: number, max: number): number | null
  flag(name: string): boolean | null
  url(name: string, protocols: readonly string[]): string | null
  choice<const V extends readonly string[]>(name: string, values: V): V[number] | null
  problem(line: string): null
}

/**
 * Reads the standard OpenTelemetry settings. Returns null unless one of them sets a collector or an exporter. The
 * exporters read those for certificates and compression themselves.
 */
export function readTelemetry(read: SettingsReader): TelemetrySettings | null {
  if (read.flag('OTEL_SDK_DISABLED') === true) return null
  const attributes = pairs(read, 'OTEL_RESOURCE_ATTRIBUTES')
  const telemetry = {
    serviceName: read.text('OTEL_SERVICE_NAME') ?? attributes['service.name'] ?? 'parley',
    attributes,
    traces: readTraces(read),
    metrics: readMetrics(read),
  }
  return telemetry.traces === null && telemetry.metrics === null ? null : telemetry
}

function readTraces(read: SettingsReader): TelemetrySettings['traces'] {
  const collector = readCollector(read, 'TRACES')
  if (collector === null) return null
  const sampler = read.choice('OTEL_TRACES_SAMPLER', samplers) ?? 'parentbased_always_on'
  const size = read.integer('OTEL_BSP_MAX_QUEUE_SIZE', 1, 100_000) ?? 2_048
  const batchSize = read.integer('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 1, 100_000) ?? 512
  const queue = {
    size,
    batchSize: Math.min(batchSize, size),
    everyMs: read.integer('OTEL_BSP_SCHEDULE_DELAY', 1, 600_000) ?? 5_000,
    timeoutMs: read.integer('OTEL_BSP_EXPORT_TIMEOUT', 1, 600_000) ?? 30_000,
  }
  return { ...collector, sampler, ratio: readRatio(read), queue }
}

function readMetrics(read: SettingsReader): TelemetrySettings['metrics'] {
  const collector = readCollector(read, 'METRICS')
  if (collector === null) return null
  const everyMs = read.integer('OTEL_METRIC_EXPORT_INTERVAL', 1, 3_600_000) ?? 60_000
  const timeoutMs = read.integer('OTEL_METRIC_EXPORT_TIMEOUT', 1, 3_600_000) ?? 30_000
  return { ...collector, everyMs, timeoutMs: Math.min(timeoutMs, everyMs) }
}

/** Returns null unless a setting enables this signal. */
function readCollector(read: SettingsReader, signal: 'TRACES' | 'METRICS'): Collector | null {
  const exporter = read.choice(`OTEL_${signal}_EXPORTER`, exporters)
  const common = read.url('OTEL_EXPORTER_OTLP_ENDPOINT', httpSchemes)
  const own = read.url(`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`, httpSchemes)
  if (exporter === 'none' || (exporter === null && common === null && own === null)) return null
  read.choice('OTEL_EXPORTER_OTLP_PROTOCOL', protocols)
  read.choice(`OTEL_EXPORTER_OTLP_${signal}_PROTOCOL`, protocols)
  const timeoutMs = (name: string) => read.integer(name, 1, 600_000)
  return {
    url: own ?? `${(common ?? 'http://localhost:4318').replace(/\/{1,9}$/, '')}/v1/${signal.toLowerCase()}`,
    headers: {
      ...pairs(read, 'OTEL_EXPORTER_OTLP_HEADERS'),
      ...pairs(read, `OTEL_EXPORTER_OTLP_${signal}_HEADERS`),
    },
    callTimeoutMs:
      timeoutMs(`OTEL_EXPORTER_OTLP_${signal}_TIMEOUT`) ?? timeoutMs('OTEL_EXPORTER_OTLP_TIMEOUT') ?? 10_000,
  }
}

function readRatio(read: SettingsReader): number {
  const text = read.text('OTEL_TRACES_SAMPLER_ARG')
  if (text === null) return 1
  const ratio = /^\d{1,2}(?:\.\d{1,12})?$/.test(text) ? Number(text) : Number.NaN
  if (ratio >= 0 && ratio <= 1) return ratio
  read.problem('OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1')
  return 0
}

/** Parses `a=1,b=2`, percent-encoded. */
function pairs(read: SettingsReader, name: string): Record<string, string> {
  const parts = (read.text(name) ?? '').split(',').filter((part) => part.trim() !== '')
  try {
    return Object.fromEntries(
      parts.map((part) => {
        const at = part.indexOf('=')
        if (at < 1) throw new URIError()
        return [decodeURIComponent(part.slice(0, at).trim()), decodeURIComponent(part.slice(at + 1).trim())]
      }),
    )
  } catch {
    read.problem(`${name} must be a list like name=value,other=value, percent-encoded`)
    return {}
  }
}
