import { t } from '../../text/index.ts'
import styles from '../add/forms.module.css'

/** What an unofficial connection may cost, in plain words. */
export function RiskText() {
  const { title, points } = t.connections.risk
  return (
    <section className={styles.risk}>
      <h3>{title}</h3>
      <ul>
        {Object.values(points).map((point) => (
          <li key={point}>{point}</li>
        ))}
      </ul>
    </section>
  )
}
