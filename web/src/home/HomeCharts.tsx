import type { Stats } from '../data/stats.ts'
import { AnswerTimes } from './AnswerTimes.tsx'
import { Groups } from './Groups.tsx'
import { LeadCharts } from './LeadCharts.tsx'

/** What is below the figures: charts and tables, which come after them. */
export default function HomeCharts({ stats, days }: { stats: Stats; days: number }) {
  return (
    <>
      <LeadCharts stats={stats} />
      <AnswerTimes stats={stats} />
      <Groups days={days} />
    </>
  )
}
