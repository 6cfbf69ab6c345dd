import { type Comparison, useComparison } from '../data/comparison.ts'
import type { Stats } from '../data/stats.ts'
import { language, t } from '../text/index.ts'
import { changeOf } from '../ui/charts/change.ts'
import { type Figure, Figures as FigureRow } from '../ui/charts/Figures.tsx'
import { formatDuration } from '../ui/format/duration.ts'
import { formatNumber } from '../ui/format/time.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'

/** Key figures, compared with the previous period. */
export function Figures({ stats, chosenDays }: { stats: Stats; chosenDays: number }) {
  const { data } = useComparison(useWorkspaceId(), chosenDays)
  return <FigureRow figures={figuresOf(stats, data)} />
}

function figuresOf({ leads, waiting, answers, days }: Stats, comparison: Comparison | undefined): Figure[] {
  const texts = t.home.figures
  const { now, before } = comparison ?? {}
  const seconds = (one: number) => formatDuration(one, language)
  const speed = (by: 'people' | 'agents'): Omit<Figure, 'name'> => {
    const of = answers[by]
    if (of === null) return { value: texts.noData, isEmpty: true, note: texts.noAnswers }
    const [median, medianBefore] = [now?.answers[by]?.medianSeconds, before?.answers[by]?.medianSeconds]
    return {
      value: seconds(of.medianSeconds),
      note: texts.median({ n: of.answers }),
      change: changeText(median, medianBefore, t.home.change.times, days.length, true, seconds),
    }
  }
  return [
    {
      name: texts.newLeads,
      value: formatNumber(leads.created),
      note: texts.inDays({ n: days.length }),
      change: changeText(now?.leads, before?.leads, t.home.change.counts, days.length, false, formatNumber),
    },
    { name: texts.today, value: formatNumber(days.at(-1)?.leads ?? 0), note: texts.leads },
    { name: texts.allLeads, value: formatNumber(leads.total), note: texts.now },
    {
      name: texts.waiting,
      value: formatNumber(waiting.forPeople + waiting.forAgents),
      note: texts.waitingFor({ minutes: waiting.minutes }),
    },
    { name: texts.people, ...speed('people') },
    { name: texts.agents, ...speed('agents') },
  ]
}

function changeText(
  now: number | undefined,
  before: number | undefined,
  texts: typeof t.home.change.counts,
  days: number,
  isLessGood: boolean,
  show: (value: number) => string,
): Figure['change'] {
  const change = changeOf(now ?? null, before ?? null)
  if (change === null) return null
  const { kind, fraction } = change
  const percent = formatNumber(fraction, { style: 'percent', maximumFractionDigits: fraction < 0.1 ? 1 : 0 })
  const isGood = kind === 'same' ? null : (kind === 'less') === isLessGood
  return { words: texts[kind]({ percent, days, before: show(before ?? 0) }), isGood }
}
