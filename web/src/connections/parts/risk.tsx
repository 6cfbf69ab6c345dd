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

const consented = new Set<string>()

/** Remembers that the person acknowledged the risk before pairing. */
export function rememberConsent(connectionId: string): void {
  consented.add(connectionId)
}

/**
 * Returns whether the person acknowledged the risk in this tab before the pairing that has just ended, and clears it. A
 * pairing voids earlier acknowledgements; this avoids asking the same question twice.
 */
export function takeConsent(connectionId: string): boolean {
  return consented.delete(connectionId)
}
