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

function Charts({ stats: { unit, buckets, sampledEvery } }: { stats: Stats }) {
  if (buckets.every(({ delivered, failedAttempts }) => delivered + failedAttempts === 0)) {
    return <EmptyState title={t.webhooks.noEvents} />
  }
  const points = buckets.map(({ start }) => pointOf(start, unit))
  const of = (pick: (bucket: Stats['buckets'][number]) => number | null) => buckets.map(pick)
  return (
    <>
      <div className={styles.card}>
        <BarChart
          label={t.webhooks.chartOf}
          points={points}
          format={formatNumber}
          series={[
            { label: t.webhooks.chartDelivered, tone: 'good', values: of(({ delivered }) => delivered) },
            { label: t.webhooks.chartFailed, tone: 'bad', values: of(({ failedAttempts }) => failedAttempts) },
          ]}
        />
        {sampledEvery > 1 && <p className={styles.note}>{t.webhooks.sampled({ every: formatNumber(sampledEvery) })}</p>}
      </div>
      <div className={styles.pair}>
        <div className={styles.card}>
          <LineChart
            label={t.webhooks.chartDelay}
            points={points}
            format={formatMs}
            unit={unitOf(of(({ delayMsP95 }) => delayMsP95))}
            series={[
              { label: t.webhooks.median, tone: 'accent', values: of(({ delayMsP50 }) => delayMsP50) },
              { label: t.webhooks.p95, tone: 'c3', values: of(({ delayMsP95 }) => delayMsP95), isDashed: true },
            ]}
          />
        </div>
        <div className={styles.card}>
          <LineChart
            label={t.webhooks.chartAnswer}
            points={points}
            format={formatMs}
            unit={unitOf(of(({ msP95 }) => msP95))}
            series={[
              { label: t.webhooks.median, tone: 'accent', values: of(({ msP50 }) => msP50) },
              { label: t.webhooks.p95, tone: 'c3', values: of(({ msP95 }) => msP95), isDashed: true },
            ]}
          />
        </div>
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
