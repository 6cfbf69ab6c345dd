import { randomUUID } from 'node:crypto'
import {
  isSpanContextValid,
  ROOT_CONTEXT,
  type Span as SdkSpan,
  type Tracer as SdkTracer,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
  ValueType,
} from '@opentelemetry/api'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { type Resource, resourceFromAttributes } from '@opentelemetry/resources'
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type Histogram,
  MeterProvider,
  type MetricData,
  type MetricProducer,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { Log } from '../../../base/log.ts'
import type { Span, SpanFields, Tracer } from '../../../base/tracing/span.ts'
import type { Collector, TelemetrySettings } from '../../../base/tracing/telemetry-settings.ts'
import { version } from '../../../base/version.ts'
import type { Metric, Metrics } from '../metrics.ts'

const scope = 'parley'
/** `ExportResultCode.SUCCESS` of an exporter. */
const success = 0
/** Buckets of the semantic conventions for `http.server.request.duration`. */
const requestSeconds = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]

export interface TelemetryDeps {
  log: Log
  metrics: Metrics
}

interface Sdk {
  tracer: Tracer | undefined
  metrics: Metrics
  close(): Promise<void>
}

/** Starts the official SDK with the settings; registers nothing globally. */
export function openSdk(settings: TelemetrySettings, { log, metrics }: TelemetryDeps): Sdk {
  const resource = resourceFromAttributes({
    'service.version': version,
    'service.instance.id': randomUUID(),
    ...settings.attributes,
    'service.name': settings.serviceName,
  })
  const traces = settings.traces === null ? null : openTraces(settings.traces, resource, log)
  const meters = settings.metrics === null ? null : openMeters(settings.metrics, resource, { log, metrics })
  return {
    tracer: traces === null ? undefined : createTracer(traces.getTracer(scope, version)),
    metrics: meters === null ? metrics : withHttpMetrics(meters, metrics),
    close: async () => {
      await Promise.all([traces?.shutdown(), meters?.shutdown()])
    },
  }
}

function openTraces(settings: NonNullable<TelemetrySettings['traces']>, resource: Resource, log: Log): TracerProvider {
  const { size, batchSize, everyMs, timeoutMs } = settings.queue
  const exporter = logFailures(new OTLPTraceExporter(exporterOptions(settings)), log, 'traces')
  const processor = new BatchSpanProcessor({
    exporter,
    maxQueueSize: size,
    maxExportBatchSize: batchSize,
    scheduledDelayMillis: everyMs,
    exportTimeoutMillis: timeoutMs,
  })
  return new TracerProvider({ resource, sampler: samplerOf(settings), spanProcessors: [processor] })
}

function openMeters(
  settings: NonNullable<TelemetrySettings['metrics']>,
  resource: Resource,
  { log, metrics }: TelemetryDeps,
): MeterProvider {
  const reader = new PeriodicExportingMetricReader({
    exporter: logFailures(new OTLPMetricExporter(exporterOptions(settings)), log, 'metrics'),
    exportIntervalMillis: settings.everyMs,
    exportTimeoutMillis: settings.timeoutMs,
    metricProducers: [createMetricProducer(metrics, resource, { name: scope, version })],
  })
  return new MeterProvider({ resource, readers: [reader] })
}

const exporterOptions = ({ url, headers, callTimeoutMs }: Collector) => ({ url, headers, timeoutMillis: callTimeoutMs })

function samplerOf({ sampler, ratio }: NonNullable<TelemetrySettings['traces']>): Sampler {
  const name = sampler.replace('parentbased_', '')
  const root = name === 'always_on' ? new AlwaysOnSampler() : name === 'always_off' ? new AlwaysOffSampler() : null
  const chosen = root ?? new TraceIdRatioBasedSampler(ratio)
  return sampler.startsWith('parentbased_') ? new ParentBasedSampler({ root: chosen }) : chosen
}

interface Exporter<Items> {
  export(items: Items, done: (result: { code: number; error?: Error }) => void): void
}

/** Logs when exports start to fail and when they work again, but not each failure. */
function logFailures<Items, E extends Exporter<Items>>(exporter: E, log: Log, what: 'traces' | 'metrics'): E {
  const send = exporter.export.bind(exporter)
  let isFailing = false
  exporter.export = (items: Items, done: (result: { code: number; error?: Error }) => void) =>
    send(items, (result) => {
      const hasFailed = result.code !== success
      if (hasFailed && !isFailing) log.warn(`failed to export ${what} to the collector; retrying`, {}, result.error)
      if (!hasFailed && isFailing) log.info(`export of ${what} to the collector restored`)
      isFailing = hasFailed
      done(result)
    })
  return exporter
}

/** Also records requests under the name of the semantic conventions. */
function withHttpMetrics(meters: MeterProvider, metrics: Metrics): Metrics {
  const time = meters.getMeter(scope, version).createHistogram('http.server.request.duration', {
    description: 'Duration of HTTP server requests.',
    unit: 's',
    advice: { explicitBucketBoundaries: requestSeconds },
  })
  return {
    ...metrics,
    request: (method, route, status, ms) => {
      metrics.request(method, route, status, ms)
      time.record(ms / 1000, {
        'http.request.method': method,
        'http.response.status_code': status,
        ...(route !== undefined && { 'http.route': route }),
        ...(status >= 500 && { 'error.type': String(status) }),
      })
    },
  }
}

const kinds = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  internal: SpanKind.INTERNAL,
} as const

/** Adapts the SDK's tracer to our interface. */
function createTracer(sdk: SdkTracer): Tracer {
  return {
    begin: (kind, name, fields, traceparent) => {
      const parent = traceparent === null ? null : contextOf(traceparent)
      const context = parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent)
      return spanOf(sdk, sdk.startSpan(name, { kind: kinds[kind], attributes: { ...fields } }, context))
    },
  }
}

function spanOf(sdk: SdkTracer, span: SdkSpan): Span {
  const traceparent = formatTraceparent(span.spanContext())
  // Unsampled spans still propagate the ids.
  if (!span.isRecording()) {
    const unsampledSpan: Span = {
      traceparent,
      isSampled: false,
      child: () => unsampledSpan,
      setFields: () => {},
      end: () => {},
    }
    return unsampledSpan
  }
  const childContext = trace.setSpan(ROOT_CONTEXT, span)
  let hasEnded = false
  return {
    traceparent,
    isSampled: true,
    child: (kind, name, fields, links = []) => {
      const linked = links.flatMap((link) => contextOf(link.traceparent) ?? []).map((context) => ({ context }))
      return spanOf(
        sdk,
        sdk.startSpan(name, { kind: kinds[kind], attributes: { ...fields }, links: linked }, childContext),
      )
    },
    setFields: (fields: SpanFields) => {
      if (!hasEnded) span.setAttributes({ ...fields })
    },
    end: (problem) => {
      if (hasEnded) return
      hasEnded = true
      if (problem !== undefined) {
        span.setAttribute('error.type', problem)
        span.setStatus({ code: SpanStatusCode.ERROR })
      }
      span.end()
    },
  }
}

const formatTraceparent = ({ traceId, spanId, traceFlags }: SpanContext): string =>
  `00-${traceId}-${spanId}-${(traceFlags & 1).toString(16).padStart(2, '0')}`

/** Returns null for an invalid traceparent, which `parseTraceparent` and `spell` never return. */
function contextOf(traceparent: string): SpanContext | null {
  const [, traceId = '', spanId = '', flags = '0'] = traceparent.split('-')
  const context = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true }
  return isSpanContextValid(context) ? context : null
}

type Time = [seconds: number, nanos: number]
type TimeSpan = Pick<DataPoint<number>, 'startTime' | 'endTime'>

/** Exports the metrics of `/metrics` under the same names, so that each thing is counted once. */
function createMetricProducer(
  metrics: Metrics,
  resource: Resource,
  scope: { name: string; version: string },
): MetricProducer {
  const startTime = timeOf(performance.timeOrigin)
  return {
    collect: async () => {
      const collected = await metrics.collect()
      const span = { startTime, endTime: timeOf(performance.timeOrigin + performance.now()) }
      const data = collected.flatMap((metric) => toMetricData(metric, span))
      return { resourceMetrics: { resource, scopeMetrics: [{ scope, metrics: data }] }, errors: [] }
    },
  }
}

const timeOf = (ms: number): Time => [Math.floor(ms / 1000), Math.round((ms % 1000) * 1_000_000)]

function toMetricData(metric: Metric, span: TimeSpan): MetricData[] {
  const { name, help: description, type } = metric
  const unit = /_seconds(?:_total)?$/.test(name) ? 's' : /_bytes$/.test(name) ? 'By' : ''
  const descriptor = { name, description, unit, valueType: ValueType.DOUBLE }
  const base = { descriptor, aggregationTemporality: AggregationTemporality.CUMULATIVE }
  if (type === 'histogram')
    return [{ ...base, dataPointType: DataPointType.HISTOGRAM, dataPoints: toHistogram(metric, span) }]
  const dataPoints = metric.values.map(({ labels, value }) => ({ ...span, attributes: labels, value }))
  if (type === 'counter') return [{ ...base, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }]
  return type === 'gauge' ? [{ ...base, dataPointType: DataPointType.GAUGE, dataPoints }] : []
}

/** Converts Prometheus buckets, which are cumulative and one value each, to histograms. */
function toHistogram({ name, values }: Metric, span: TimeSpan): DataPoint<Histogram>[] {
  const series = new Map<string, { labels: Record<string, string | number>; counts: [number, number][]; sum: number }>()
  for (const { metricName, labels: all, value } of values) {
    const { le, ...labels } = all
    const key = JSON.stringify(labels)
    const one = series.get(key) ?? { labels, counts: [], sum: 0 }
    series.set(key, one)
    if (metricName === `${name}_bucket`) one.counts.push([le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le), value])
    else if (metricName === `${name}_sum`) one.sum = value
  }
  return [...series.values()].map(({ labels, counts: unsorted, sum }) => {
    const counts = unsorted.sort(([a], [b]) => a - b)
    const boundaries = counts.map(([upTo]) => upTo).filter(Number.isFinite)
    const own = counts.map(([, count], n) => count - (counts[n - 1]?.[1] ?? 0))
    const count = counts.at(-1)?.[1] ?? 0
    return { ...span, attributes: labels, value: { buckets: { boundaries, counts: own }, sum, count } }
  })
}
