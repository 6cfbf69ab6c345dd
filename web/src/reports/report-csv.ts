import type { Report } from '../data/team/reports.ts'
import { t } from '../text/index.ts'

type Cell = string | number

/** The rows of the CSV file: the numbers of the period with what they count, then those of each day. */
export const csvRows = (report: Report): Cell[][] => [...numberRows(report), [], ...dayRows(report)]

function dayRows({ days, cost }: Report): Cell[][] {
  const { charts, csv, numbers } = t.reports
  const seconds = (value: number | null): Cell => (value === null ? '' : Math.round(value))
  const head = [
    ...[csv.date, numbers.new, numbers.closed, numbers.reopened],
    ...[`${charts.people}: ${csv.answers}`, `${charts.people}: ${csv.median}`],
    ...[`${charts.agents}: ${csv.answers}`, `${charts.agents}: ${csv.median}`],
    ...[numbers.leads, numbers.leads_won, ...(cost === null ? [] : [t.reports.cost])],
  ]
  const rows = days.map((day): Cell[] => [
    ...[day.date, day.new, day.closed, day.reopened],
    ...[day.answersOfPeople, seconds(day.medianOfPeople), day.answersOfAgents, seconds(day.medianOfAgents)],
    ...[day.leads, day.leadsWon, ...(cost === null ? [] : [day.cost ?? ''])],
  ])
  return [head, ...rows]
}

function numberRows({ counts, from, to, beforeFrom }: Report): Cell[][] {
  const { csv, definitions, numbers } = t.reports
  const names = Object.keys(counts) as (keyof typeof counts)[]
  return [
    [csv.number, `${from} – ${to}`, `${csv.since} ${beforeFrom}`, csv.definition],
    ...names.map((name): Cell[] => [numbers[name], counts[name].now, counts[name].before, definitions[name]]),
  ]
}
