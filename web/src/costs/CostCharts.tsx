import { type CostGroup, type Costs, useCosts } from '../data/team/costs.ts'
import { t } from '../text/index.ts'
import { BarChart } from '../ui/charts/BarChart.tsx'
import styles from '../ui/charts/Dashboard.module.css'
import { dayPoints, daysBetween } from '../ui/charts/day-points.ts'
import { RankBars } from '../ui/charts/RankBars.tsx'
import { formatCost } from '../ui/format/cost.ts'
import { formatNumber } from '../ui/format/time.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { nameOfCategory } from './group-names.ts'

/** Messages or amounts per day, and messages by category. */
export function CostCharts({ costs, days }: { costs: Costs; days: number }) {
  const { data: categories } = useCosts(useWorkspaceId(), days, 'category', costs.currency)
  const texts = t.costs.charts
  const { currency } = costs
  const byDay = new Map(costs.groups.map((group) => [group.key, group]))
  const dates = daysBetween(costs.from, costs.to)
  const values = (of: (group: CostGroup) => number) => dates.map((date) => of(byDay.get(date) ?? noGroup))
  return (
    <>
      {currency !== null && (
        <div className={styles.card}>
          <BarChart
            label={texts.amountPerDay}
            points={dayPoints(dates)}
            series={[{ label: texts.amount, tone: 'accent', values: values(({ amount }) => Number(amount ?? 0)) }]}
            format={(value) => formatCost(String(value), currency)}
          />
        </div>
      )}
      <div className={styles.card} data-part="6">
        <BarChart
          label={texts.messagesPerDay}
          points={dayPoints(dates)}
          series={[
            { label: texts.charged, tone: 'accent', values: values(({ charged }) => charged) },
            { label: texts.free, tone: 'c8', values: values(({ free }) => free) },
            { label: texts.unknown, tone: 'attention', values: values(({ unknown }) => unknown) },
          ]}
          format={formatNumber}
        />
      </div>
      <div className={styles.card} data-part="6">
        <RankBars
          label={texts.byCategory}
          rows={(categories?.groups ?? []).map(({ key, messages }) => ({
            key: key ?? '',
            label: nameOfCategory(key),
            value: messages,
          }))}
          format={formatNumber}
        />
      </div>
    </>
  )
}

const noGroup: CostGroup = { key: null, messages: 0, charged: 0, free: 0, unknown: 0, unpriced: 0, amount: null }
