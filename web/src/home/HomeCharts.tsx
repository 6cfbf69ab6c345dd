import type { Stats } from '../data/stats.ts'
import { AnswerTimes } from './AnswerTimes.tsx'
import { LeadCharts } from './LeadCharts.tsx'

/** Charts below the key figures; loaded after them. */
export default function HomeCharts({ stats }: { stats: Stats }) {
  return (
    <>
      <LeadCharts stats={stats} />
      <AnswerTimes stats={stats} />
    </>
  )
}
