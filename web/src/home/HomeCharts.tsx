import type { Stats } from '../data/stats.ts'
import { AnswerTimes } from './AnswerTimes.tsx'
import { Groups } from './Groups.tsx'
import { LeadCharts } from './LeadCharts.tsx'

/** Charts and tables below the key figures; loaded after them. */
export default function HomeCharts({ stats, days }: { stats: Stats; days: number }) {
  return (
    <>
      <LeadCharts stats={stats} />
      <AnswerTimes stats={stats} />
      <Groups days={days} />
    </>
  )
}
