import type { Report, ReportNumber } from '../data/team/reports.ts'
import { language, t } from '../text/index.ts'
import { changeOf } from '../ui/charts/change.ts'
import styles from '../ui/charts/Dashboard.module.css'
import { type Figure, Figures } from '../ui/charts/Figures.tsx'
import { formatAmount } from '../ui/format/amount.ts'
import { formatCost } from '../ui/format/cost.ts'
import { formatDuration } from '../ui/format/duration.ts'
import { formatNumber, formatPercent } from '../ui/format/time.ts'

interface FiguresProps {
  report: Report
  days: number
  open(number: ReportNumber): void
}

const groups = {
  conversations: ['new', 'closed', 'reopened'],
  satisfaction: ['ratings', 'ratings_good', 'ratings_bad'],
  agents: [
    'case_resolved',
    'case_reopened',
    'case_assisted',
    'case_handed_over',
    'case_taken_over',
    'case_silent',
    'case_other',
  ],
  leads: ['leads', 'leads_won'],
} as const satisfies Record<string, readonly ReportNumber[]>

/** Fewer of these are better. */
const lessIsGood: readonly ReportNumber[] = [
  'reopened',
  'case_reopened',
  'case_handed_over',
  'case_taken_over',
  'case_silent',
  'ratings_bad',
]
/** More of these are better; the others are neither good nor bad. */
const moreIsGood: readonly ReportNumber[] = ['closed', 'case_resolved', 'ratings_good', 'leads', 'leads_won']

/** All numbers of a report, compared with the period before. Each shows its definition, and what it counts. */
export function ReportFigures(props: FiguresProps) {
  const { report } = props
  const texts = t.reports
  const count = (number: ReportNumber) => countFigure(props, number)
  return (
    <>
      <h2 className={styles.heading}>{texts.sections.conversations}</h2>
      <Figures
        figures={[
          ...groups.conversations.map(count),
          timeFigure(props, 'answerOfPeople', 'answers_by_people'),
          timeFigure(props, 'answerOfAgents', 'answers_by_agents'),
          timeFigure(props, 'resolution', 'closed'),
          ...waitingFigures(report),
        ]}
      />
      <h2 className={styles.heading}>{texts.sections.satisfaction}</h2>
      <Figures figures={groups.satisfaction.map(count)} />
      <h2 className={styles.heading}>{texts.sections.agents}</h2>
      <Figures figures={groups.agents.map(count)} />
      <h2 className={styles.heading}>{texts.sections.leads}</h2>
      <Figures figures={[...groups.leads.map(count), wonFigure(props), ...costFigures(props)]} />
    </>
  )
}

function countFigure({ report, days, open }: FiguresProps, number: ReportNumber): Figure {
  const { now, before } = report.counts[number]
  const isLessGood = lessIsGood.includes(number) ? true : moreIsGood.includes(number) ? false : null
  return {
    name: t.reports.numbers[number],
    value: formatNumber(now),
    note: noteOf(report, number),
    change: changeText(now, before, { days, isLessGood, show: formatNumber }),
    help: t.reports.definitions[number],
    ...(now > 0 && { open: () => open(number) }),
  }
}

function noteOf({ counts }: Report, number: ReportNumber): string {
  const { notes } = t.reports
  if (number === 'new') return notes.new({ n: counts.new_by_customer.now })
  if (number === 'closed')
    return notes.closed({ people: counts.closed_by_people.now, agents: counts.closed_by_agents.now })
  if (number === 'leads_won') return notes.share({ percent: percentOf(counts.leads_won.now, counts.leads.now) })
  if (number === 'ratings_good' || number === 'ratings_bad')
    return notes.ofRatings({ percent: percentOf(counts[number].now, counts.ratings.now) })
  return notes.inPeriod
}

const percentOf = (part: number, of: number): string => formatPercent(of === 0 ? 0 : part / of)

/** The median of a time; opens the list of what was measured. */
function timeFigure(
  { report, days, open }: FiguresProps,
  time: 'answerOfPeople' | 'answerOfAgents' | 'resolution',
  number: ReportNumber,
): Figure {
  const texts = t.reports
  const { now, before } = report.times[time]
  const named = { name: texts.times[time], help: texts.definitions[time] }
  if (now === null) return { ...named, value: '–', isEmpty: true, note: texts.notes.none }
  const seconds = (one: number) => formatDuration(one, language)
  return {
    ...named,
    value: seconds(now.medianSeconds),
    note: texts.notes.times({ n: now.count, p90: seconds(now.p90Seconds) }),
    change: changeText(now.medianSeconds, before?.medianSeconds ?? null, { days, isLessGood: true, show: seconds }),
    open: () => open(number),
  }
}

function waitingFigures({ waiting }: Report): Figure[] {
  if (waiting === null) return []
  const { forPeople, forAgents } = waiting
  const texts = t.reports
  return [
    {
      name: texts.waiting,
      value: formatNumber(forPeople + forAgents),
      note: texts.notes.waiting({ people: forPeople, agents: forAgents }),
      help: texts.definitions.waiting,
    },
  ]
}

function wonFigure({ report }: FiguresProps): Figure {
  const texts = t.reports
  const won = report.leads.find(({ status }) => status === 'won')
  return {
    name: texts.won,
    value: formatAmount(Number(won?.amount ?? 0), report.currency),
    note: texts.notes.inPeriod,
    help: texts.definitions.won,
  }
}

/** Costs, for those who may see them. */
function costFigures({ report, days }: FiguresProps): Figure[] {
  const { cost, costCurrency, counts } = report
  if (cost === null) return []
  const texts = t.reports
  const show = (one: number) => formatCost(String(one), costCurrency)
  const [now, before] = [cost.now, cost.before].map((one) => (one === null ? null : Number(one)))
  const leads = counts.leads.now
  return [
    {
      name: texts.cost,
      value: formatCost(cost.now, costCurrency),
      note: cost.unpriced > 0 ? texts.notes.unpriced({ n: cost.unpriced }) : texts.notes.inPeriod,
      change: changeText(now ?? null, before ?? null, { days, isLessGood: null, show }),
      help: texts.definitions.cost,
    },
    {
      name: texts.costPerLead,
      value: now == null || leads === 0 ? '–' : show(now / leads),
      isEmpty: now == null || leads === 0,
      note: texts.notes.leads({ n: leads }),
      help: texts.definitions.costPerLead,
    },
  ]
}

interface Shown {
  days: number
  isLessGood: boolean | null
  show: (value: number) => string
}

function changeText(now: number | null, before: number | null, { days, isLessGood, show }: Shown): Figure['change'] {
  const change = changeOf(now, before)
  if (change === null) return null
  const { kind, fraction } = change
  const percent = formatPercent(fraction, fraction < 0.1 ? 1 : 0)
  const words = t.home.change.counts[kind]({ percent, days, before: show(before ?? 0) })
  const isGood = kind === 'same' || kind === 'new' || isLessGood === null ? null : (kind === 'less') === isLessGood
  return { words, isGood }
}
