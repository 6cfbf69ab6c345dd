import type { Report } from '../data/team/reports.ts'
import { language, t } from '../text/index.ts'
import { BarChart } from '../ui/charts/BarChart.tsx'
import styles from '../ui/charts/Dashboard.module.css'
import { dayPoints } from '../ui/charts/day-points.ts'
import { LineChart } from '../ui/charts/LineChart.tsx'
import { formatCost } from '../ui/format/cost.ts'
import { formatDuration, unitOf } from '../ui/format/duration.ts'
import { formatNumber } from '../ui/format/time.ts'

/** Conversations, answers, leads and costs by day. */
export function ReportCharts({ report: { days, cost, costCurrency } }: { report: Report }) {
  const { charts, numbers } = t.reports
  const points = dayPoints(days.map(({ date }) => date))
  const medians = (by: 'medianOfPeople' | 'medianOfAgents') => days.map((day) => day[by])
  const longest = Math.max(0, ...[...medians('medianOfPeople'), ...medians('medianOfAgents')].map((one) => one ?? 0))
  return (
    <>
      <div className={styles.card}>
        <LineChart
          label={charts.conversations}
          points={points}
          series={[
            { label: numbers.new, tone: 'accent', values: days.map((day) => day.new) },
            { label: numbers.closed, tone: 'good', values: days.map((day) => day.closed), isDashed: true },
            { label: numbers.reopened, tone: 'attention', values: days.map((day) => day.reopened) },
          ]}
          format={formatNumber}
        />
      </div>
      <div className={styles.card} data-part="6">
        <BarChart
          label={charts.answers}
          points={points}
          series={[
            { label: charts.people, tone: 'accent', values: days.map((day) => day.answersOfPeople) },
            { label: charts.agents, tone: 'agent', values: days.map((day) => day.answersOfAgents) },
          ]}
          format={formatNumber}
        />
      </div>
      <div className={styles.card} data-part="6">
        <LineChart
          label={charts.answerTimes}
          points={points}
          series={[
            { label: charts.people, tone: 'accent', values: medians('medianOfPeople') },
            { label: charts.agents, tone: 'agent', values: medians('medianOfAgents'), isDashed: true },
          ]}
          format={(seconds) => formatDuration(seconds, language)}
          unit={unitOf(longest)}
        />
      </div>
      <div className={styles.card} data-part="6">
        <BarChart
          label={charts.leads}
          points={points}
          series={[
            { label: numbers.leads_won, tone: 'good', values: days.map((day) => day.leadsWon) },
            { label: charts.otherLeads, tone: 'c8', values: days.map((day) => day.leads - day.leadsWon) },
          ]}
          format={formatNumber}
        />
      </div>
      {cost !== null && costCurrency !== null && (
        <div className={styles.card} data-part="6">
          <BarChart
            label={charts.cost}
            points={points}
            series={[{ label: t.reports.cost, tone: 'accent', values: days.map((day) => Number(day.cost ?? 0)) }]}
            format={(value) => formatCost(String(value), costCurrency)}
          />
        </div>
      )}
    </>
  )
}
