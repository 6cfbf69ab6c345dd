import type { ReactNode } from 'react'
import styles from './Chip.module.css'

export type Tone = 'plain' | 'accent' | 'agent' | 'good' | 'attention' | 'bad'

/** Colored label; the text alone is sufficient. */
export function Chip({ tone = 'plain', title, children }: { tone?: Tone; title?: string; children: ReactNode }) {
  return (
    <span className={styles.chip} data-tone={tone} title={title}>
      {children}
    </span>
  )
}
