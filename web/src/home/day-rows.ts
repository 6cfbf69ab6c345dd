import type { Stats } from '../data/stats.ts'
import { t } from '../text/index.ts'

const agentRows = ['people', 'agents', 'otherApps'] as const

/** The rows of the CSV file. */
export function dayRows({ days }: Stats): (string | number)[][] {
  const { charts, csv } = t.home
  const head = agentRows.flatMap((by) => [`${charts[by]}: ${csv.answers}`, `${charts[by]}: ${csv.median}`])
  const rows = days.map(({ date, leads, answers }) => [
    date,
    leads,
    ...agentRows.flatMap((by) => [answers[by]?.answers ?? 0, rounded(answers[by]?.medianSeconds)]),
  ])
  return [[csv.date, t.common.pages.leads, ...head], ...rows]
}

const rounded = (seconds: number | undefined): string | number => (seconds === undefined ? '' : Math.round(seconds))
