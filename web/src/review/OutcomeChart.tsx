import type { Agent, AgentNumbers, Outcomes } from '../data/team/agent-numbers.ts'
import { t } from '../text/index.ts'
import { BarChart } from '../ui/charts/BarChart.tsx'
import type { ChartTone } from '../ui/charts/chart-props.ts'
import dashboard from '../ui/charts/Dashboard.module.css'
import { dayPoints, daysBetween } from '../ui/charts/day-points.ts'
import { formatNumber } from '../ui/format/time.ts'

interface OutcomeChartProps {
  agent: Agent
  numbers: Pick<AgentNumbers, 'from' | 'to'>
  name: string
}

const tones: Record<keyof Outcomes, ChartTone> = {
  resolved: 'good',
  recent: 'c2',
  reopened: 'attention',
  assisted: 'accent',
  handed_over: 'agent',
  taken_over: 'bad',
  silent: 'c5',
  other: 'c8',
}

/** How cases ended, per day. */
export function OutcomeChart({ agent, numbers: { from, to }, name }: OutcomeChartProps) {
  const byDate = new Map(agent.days.map(({ date, outcomes }) => [date, outcomes]))
  const dates = daysBetween(from, to)
  const shown = (Object.keys(tones) as (keyof Outcomes)[]).filter((one) => agent.outcomes[one] > 0)
  return (
    <div className={dashboard.card}>
      <BarChart
        label={t.review.casesPerDay({ name })}
        points={dayPoints(dates)}
        series={shown.map((one) => ({
          label: t.review.outcomes[one],
          tone: tones[one],
          values: dates.map((date) => byDate.get(date)?.[one] ?? 0),
        }))}
        format={formatNumber}
      />
    </div>
  )
}
