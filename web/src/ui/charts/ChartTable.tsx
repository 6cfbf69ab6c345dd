import { t } from '../../text/index.ts'
import visuallyHidden from '../visually-hidden.module.css'
import styles from './Chart.module.css'
import type { ChartProps } from './chart-props.ts'

/** Figures of a chart as a table: always for screen readers, for others on request. */
export function ChartTable({ label, points, series, format, isSeen }: ChartProps & { isSeen: boolean }) {
  return (
    // A scroll area must be scrollable by keyboard.
    <div className={isSeen ? styles.scroll : visuallyHidden.hidden} {...(isSeen && { tabIndex: 0 })}>
      <table className={styles.table} aria-label={label}>
        <thead>
          <tr>
            <th scope="col">{t.charts.when}</th>
            {series.map((one) => (
              <th key={one.label} scope="col">
                {one.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {points.map(({ key, full }, n) => (
            <tr key={key}>
              <th scope="row">{full}</th>
              {series.map((one) => {
                const value = one.values[n] ?? null
                return <td key={one.label}>{value === null ? '–' : format(value)}</td>
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
