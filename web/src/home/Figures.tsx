import type { Stats } from '../data/stats.ts'
import { language, t } from '../text/index.ts'
import { number } from '../ui/format/time.ts'
import { duration } from './duration.ts'
import styles from './HomePage.module.css'

/** The few numbers that say how it goes. */
export function Figures({ stats: { leads, waiting, answers, days } }: { stats: Stats }) {
  const texts = t.home.figures
  const time = (of: Stats['answers']['people']) => (of === null ? '–' : duration(of.medianSeconds, language))
  const figures: [name: string, value: string, note: string][] = [
    [texts.newLeads, number(leads.created), texts.inDays(days.length)],
    [texts.today, number(days.at(-1)?.leads ?? 0), texts.leads],
    [texts.allLeads, number(leads.total), texts.now],
    [texts.waiting, number(waiting.forPeople + waiting.forAgents), texts.waitingFor(waiting.minutes)],
    [texts.people, time(answers.people), texts.median],
    [texts.agents, time(answers.agents), texts.median],
  ]
  return (
    <dl className={styles.figures}>
      {figures.map(([name, value, note]) => (
        <div key={name} className={styles.figure}>
          <dt>{name}</dt>
          <dd>{value}</dd>
          <dd className={styles.note}>{note}</dd>
        </div>
      ))}
    </dl>
  )
}
