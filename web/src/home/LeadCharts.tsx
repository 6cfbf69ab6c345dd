import { t } from '../text/index.ts'
import { BarChart } from '../ui/charts/BarChart.tsx'
import { RankBars } from '../ui/charts/RankBars.tsx'
import { number } from '../ui/time.ts'
import styles from './HomePage.module.css'
import { pointsOf } from './points.ts'
import type { Stats } from './queries.ts'

export function LeadCharts({ stats: { days, leads } }: { stats: Stats }) {
  const texts = t.home.charts
  const sources = leads.bySource.filter(({ count }) => count > 0)
  return (
    <>
      <div className={styles.card}>
        <BarChart
          label={texts.leadsPerDay}
          points={pointsOf(days)}
          series={[{ label: t.common.pages.leads, tone: 'accent', values: days.map((day) => day.leads) }]}
          format={number}
        />
      </div>
      <div className={styles.card} data-part="6">
        <RankBars
          label={texts.bySource}
          rows={sources.map(({ source, count }) => ({ key: source, label: t.home.sources[source], value: count }))}
          format={number}
        />
        {sources.length === 0 && <p className={styles.quiet}>{texts.noLeads}</p>}
      </div>
      <div className={styles.card} data-part="6">
        <RankBars
          label={texts.byStatus}
          rows={leads.byStatus.map(({ status, count }) => ({
            key: status,
            label: t.home.statuses[status] ?? status,
            value: count,
          }))}
          format={number}
        />
        {leads.byStatus.length === 0 && <p className={styles.quiet}>{texts.noLeads}</p>}
      </div>
    </>
  )
}
