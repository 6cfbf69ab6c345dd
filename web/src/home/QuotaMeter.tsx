import type { Stats } from '../data/stats.ts'
import { t } from '../text/index.ts'
import { number } from '../ui/format/time.ts'
import styles from './HomePage.module.css'

const near = 0.8

/** How much of what the day allows is used. */
export function QuotaMeter({ quota: { used, limit } }: { quota: Stats['quota'] }) {
  const texts = t.home.quota
  const part = limit === null ? 0 : Math.min(1, used / Math.max(1, limit))
  const tone = part >= 1 ? 'bad' : part >= near ? 'attention' : undefined
  return (
    <section className={styles.card} aria-label={texts.title}>
      <h2 className={styles.title}>{texts.title}</h2>
      {limit !== null && (
        <div className={styles.meter} aria-hidden="true">
          <div data-tone={tone} style={{ width: `${100 * part}%` }} />
        </div>
      )}
      <p className={styles.quiet}>
        {limit === null ? texts.unlimited(number(used)) : texts.used(number(used), number(limit))}
      </p>
    </section>
  )
}
