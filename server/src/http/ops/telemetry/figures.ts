import { ValueType } from '@opentelemetry/api'
import type { Resource } from '@opentelemetry/resources'
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type Histogram,
  type MetricData,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics'
import type { Figure, Metrics } from '../metrics.ts'

type Time = [seconds: number, nanos: number]
type Span = Pick<DataPoint<number>, 'startTime' | 'endTime'>

/** What `/metrics` says, under the same names: there is one count of each thing, whoever reads it. */
export function figuresProducer(
  metrics: Metrics,
  resource: Resource,
  scope: { name: string; version: string },
): MetricProducer {
  const startTime = timeOf(performance.timeOrigin)
  return {
    collect: async () => {
      const figures = await metrics.figures()
      const span = { startTime, endTime: timeOf(performance.timeOrigin + performance.now()) }
      const data = figures.flatMap((figure) => dataOf(figure, span))
      return { resourceMetrics: { resource, scopeMetrics: [{ scope, metrics: data }] }, errors: [] }
    },
  }
}

const timeOf = (ms: number): Time => [Math.floor(ms / 1000), Math.round((ms % 1000) * 1_000_000)]

function dataOf(figure: Figure, span: Span): MetricData[] {
  const { name, help: description, type } = figure
  const unit = /_seconds(?:_total)?$/.test(name) ? 's' : /_bytes$/.test(name) ? 'By' : ''
  const descriptor = { name, description, unit, valueType: ValueType.DOUBLE }
  const base = { descriptor, aggregationTemporality: AggregationTemporality.CUMULATIVE }
  if (type === 'histogram')
    return [{ ...base, dataPointType: DataPointType.HISTOGRAM, dataPoints: spread(figure, span) }]
  const dataPoints = figure.values.map(({ labels, value }) => ({ ...span, attributes: labels, value }))
  if (type === 'counter') return [{ ...base, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }]
  return type === 'gauge' ? [{ ...base, dataPointType: DataPointType.GAUGE, dataPoints }] : []
}

/** Prometheus counts in each bucket those of the smaller ones, too, and writes a line for each. */
function spread({ name, values }: Figure, span: Span): DataPoint<Histogram>[] {
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
