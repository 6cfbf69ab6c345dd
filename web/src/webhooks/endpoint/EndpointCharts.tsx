import { useQueryClient } from '@tanstack/react-query'
import { refetchQueries } from '../../api/refetch.ts'
import { type Endpoint, queryKeys, type Stats, useStats } from '../../data/webhooks.ts'
import { t } from '../../text/index.ts'
import { BarChart } from '../../ui/charts/BarChart.tsx'
import type { Point } from '../../ui/charts/chart-props.ts'
import { LineChart } from '../../ui/charts/LineChart.tsx'
import { formatDateTime, formatNumber, formatTime, formatUtcDate } from '../../ui/format/time.ts'
import { EmptyState } from '../../ui/page/EmptyState.tsx'
import { PageBody, QueryBoundary } from '../../ui/page/PageBody.tsx'
import { Segments } from '../../ui/page/Segments.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { statHours } from '../search.ts'
import { useAfterDeliveries } from '../use-live-updates.ts'
import { formatMs } from '../webhook-texts.ts'
import styles from './EndpointPage.module.css'

interface EndpointChartsProps {
  endpoint: Endpoint
  hours: (typeof statHours)[number]
  choose(hours: (typeof statHours)[number]): void
}

/** Charts of an endpoint: successful and failed deliveries, and durations. */
export function EndpointCharts({ endpoint, hours, choose }: EndpointChartsProps) {
  const workspaceId = useWorkspaceId()
  const query = useStats(workspaceId, endpoint.id, hours)
  const queries = useQueryClient()
  useAfterDeliveries(5000, () => void refetchQueries(queries, queryKeys.stats(workspaceId, endpoint.id)))
  return (
    <PageBody>
      <div className={styles.charts}>
        <div>
          <Segments
            label={t.webhooks.range}
            data={statHours.map((value) => ({ value: String(value), label: t.webhooks.ranges[value] }))}
            value={String(hours)}
            onChange={(chosen) => choose(statHours.find((value) => String(value) === chosen) ?? 24)}
          />
        </div>
        <QueryBoundary query={query}>{(stats) => <Charts stats={stats} />}</QueryBoundary>
      </div>
    </PageBody>
  )
}

type Bucket = Stats['buckets'][number]

function Charts({ stats: { unit, buckets, sampledEvery } }: { stats: Stats }) {
  if (buckets.every(({ delivered, failedAttempts }) => delivered + failedAttempts === 0)) {
    return <EmptyState title={t.webhooks.noEvents} />
  }
  const points = buckets.map(({ start }) => pointOf(start, unit))
  const valuesOf = <K extends keyof Bucket>(name: K): Bucket[K][] => buckets.map((bucket) => bucket[name])
  const durations = (label: string, p50: 'delayMsP50' | 'msP50', p95: 'delayMsP95' | 'msP95') => (
    <div className={styles.card}>
      <LineChart
        label={label}
        points={points}
        format={formatMs}
        unit={unitOf(valuesOf(p95))}
        series={[
          { label: t.webhooks.median, tone: 'accent', values: valuesOf(p50) },
          { label: t.webhooks.p95, tone: 'c3', values: valuesOf(p95), isDashed: true },
        ]}
      />
    </div>
  )
  return (
    <>
      <div className={styles.card}>
        <BarChart
          label={t.webhooks.chartOf}
          points={points}
          format={formatNumber}
          series={[
            { label: t.webhooks.chartDelivered, tone: 'good', values: valuesOf('delivered') },
            { label: t.webhooks.chartFailed, tone: 'bad', values: valuesOf('failedAttempts') },
          ]}
        />
        {sampledEvery > 1 && <p className={styles.note}>{t.webhooks.sampled({ every: formatNumber(sampledEvery) })}</p>}
      </div>
      <div className={styles.pair}>
        {durations(t.webhooks.chartDelay, 'delayMsP50', 'delayMsP95')}
        {durations(t.webhooks.chartAnswer, 'msP50', 'msP95')}
      </div>
    </>
  )
}

const pointOf = (start: string, unit: Stats['unit']): Point =>
  unit === 'hour'
    ? { key: start, short: formatTime(start), full: formatDateTime(start) }
    : { key: start, short: formatUtcDate(start), full: formatUtcDate(start) }

/** Returns the unit for the longest duration. */
function unitOf(values: readonly (number | null)[]): number {
  const longest = Math.max(0, ...values.map((value) => value ?? 0))
  return [3_600_000, 60_000, 1000].find((unit) => longest >= unit) ?? 1
}
