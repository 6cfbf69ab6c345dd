import styles from './Chart.module.css'
import { colorOf } from './Chart.tsx'
import type { ChartTone } from './chart-props.ts'

interface RankBarsProps {
  label: string
  rows: readonly { key: string; label: string; value: number; tone?: ChartTone }[]
  format: (value: number) => string
}

/** Bars with names and values, such as leads by source. */
export function RankBars({ label, rows, format }: RankBarsProps) {
  const highest = Math.max(1, ...rows.map(({ value }) => value))
  return (
    <figure className={styles.chart} aria-label={label}>
      <div className={styles.head}>
        <figcaption className={styles.title}>{label}</figcaption>
      </div>
      <ul className={styles.ranks}>
        {rows.map((row) => (
          <li key={row.key} className={styles.rank}>
            <span>{row.label}</span>
            <span className={styles.track} aria-hidden="true">
              {row.value > 0 && (
                <div
                  className={styles.bar}
                  style={{ width: `${(100 * row.value) / highest}%`, background: colorOf(row.tone ?? 'c1') }}
                />
              )}
            </span>
            <span>{format(row.value)}</span>
          </li>
        ))}
      </ul>
    </figure>
  )
}
