import type { Stats } from '../data/stats.ts'
import { useWorkspace } from '../data/workspace.ts'
import { t } from '../text/index.ts'
import { BarChart } from '../ui/charts/BarChart.tsx'
import { dayPoints } from '../ui/charts/day-points.ts'
import { RankBars } from '../ui/charts/RankBars.tsx'
import { statusName } from '../ui/format/lead-texts.ts'
import { formatNumber } from '../ui/format/time.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import styles from './HomePage.module.css'

export function LeadCharts({ stats: { days, leads } }: { stats: Stats }) {
  const workspaceId = useWorkspaceId()
  const texts = t.home.charts
  const { data: workspace } = useWorkspace(workspaceId)
  const statuses = inOrder(leads.byStatus, workspace?.leadStatuses ?? [])
  const sources = leads.bySource.filter(({ count }) => count > 0)
  return (
    <>
      <div className={styles.card}>
        <BarChart
          label={texts.leadsPerDay}
          points={dayPoints(days.map(({ date }) => date))}
          series={[{ label: t.common.pages.leads, tone: 'accent', values: days.map((day) => day.leads) }]}
          format={formatNumber}
        />
      </div>
      <div className={styles.card} data-part="6">
        <RankBars
          label={texts.bySource}
          rows={sources.map(({ source, count }) => ({ key: source, label: t.lead.sources[source], value: count }))}
          format={formatNumber}
        />
        {sources.length === 0 && <p className={styles.muted}>{texts.noLeads}</p>}
      </div>
      <div className={styles.card} data-part="6">
        <RankBars
          label={texts.byStatus}
          rows={statuses.map(({ status, count }) => ({
            key: status,
            label: statusName(status),
            value: count,
          }))}
          format={formatNumber}
        />
        {leads.byStatus.length === 0 && <p className={styles.muted}>{texts.noLeads}</p>}
      </div>
    </>
  )
}

/** Sorts by the workspace's order of statuses; removed statuses come last. */
function inOrder(byStatus: Stats['leads']['byStatus'], order: readonly string[]): Stats['leads']['byStatus'] {
  const place = (status: string) => (order.includes(status) ? order.indexOf(status) : order.length)
  return byStatus.toSorted((a, b) => place(a.status) - place(b.status))
}
