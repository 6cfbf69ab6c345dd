import { t } from '../../text/index.ts'
import styles from '../add/forms.module.css'

/** Risks of an unofficial connection. */
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
