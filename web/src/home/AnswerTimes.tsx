import type { Stats } from '../data/stats.ts'
import { language, t } from '../text/index.ts'
import { dayPoints } from '../ui/charts/day-points.ts'
import { LineChart } from '../ui/charts/LineChart.tsx'
import { formatDuration, unitOf } from '../ui/format/duration.ts'
import styles from './HomePage.module.css'

/** Times to the first response, for people and agents. */
export function AnswerTimes({ stats: { days, answers } }: { stats: Stats }) {
  const texts = t.home.charts
  const hasAny = answers.people !== null || answers.agents !== null || answers.otherApps !== null
  if (!hasAny) {
    return (
      <section className={styles.card} aria-label={texts.answerTimes}>
        <h2 className={styles.title}>{texts.answerTimes}</h2>
        <p className={styles.muted}>{texts.noAnswers}</p>
      </section>
    )
  }
  const medians = (of: 'people' | 'agents' | 'otherApps') => days.map((day) => day.answers[of]?.medianSeconds ?? null)
  const longest = Math.max(0, ...(['people', 'agents', 'otherApps'] as const).flatMap(medians).map((one) => one ?? 0))
  return (
    <div className={styles.card}>
      <LineChart
        label={texts.answerTimes}
        points={dayPoints(days.map(({ date }) => date))}
        series={[
          { label: texts.people, tone: 'accent', values: medians('people') },
          { label: texts.agents, tone: 'agent', values: medians('agents'), isDashed: true },
          ...(answers.otherApps === null
            ? []
            : [{ label: texts.otherApps, tone: 'c8' as const, values: medians('otherApps') }]),
        ]}
        format={(seconds) => formatDuration(seconds, language)}
        unit={unitOf(longest)}
      />
      <p className={styles.muted}>{slowestGroup(answers)}</p>
    </div>
  )
}

function slowestGroup({ people, agents }: Stats['answers']): string {
  const texts = t.home.charts
  const [ofPeople, ofAgents] = [p90Text(people), p90Text(agents)]
  return [
    texts.slowest,
    ...(ofPeople === null ? [] : [texts.slowestPeople({ people: ofPeople })]),
    ...(ofAgents === null ? [] : [texts.slowestAgents({ agents: ofAgents })]),
  ].join(' ')
}

const p90Text = (of: Stats['answers']['people']): string | null =>
  of === null ? null : formatDuration(of.p90Seconds, language)
