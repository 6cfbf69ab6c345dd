import type { ReactNode } from 'react'
import { useEffect } from 'react'
import styles from './EntryCard.module.css'

interface EntryCardProps {
  title: string
  help: string
  children?: ReactNode
  /** Shown below the card, for an alternative. */
  below?: ReactNode
}

/** Layout of pages before sign-in: one task with its explanation. */
export function EntryCard({ title, help, children, below }: EntryCardProps) {
  useEffect(() => {
    document.title = `${title} · Parley`
  }, [title])
  return (
    <main className={styles.page}>
      <div className={styles.column}>
        <div className={styles.brand}>
          <svg viewBox="0 0 24 24" aria-hidden="true">
            <path d="M4 3h16a2 2 0 0 1 2 2v10a2 2 0 0 1-2 2h-7l-5 4v-4H4a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2z" />
          </svg>
          <span>Parley</span>
        </div>
        <div className={styles.card}>
          <h1 className={styles.title}>{title}</h1>
          <p className={styles.help}>{help}</p>
          {children}
        </div>
        {below !== undefined && <p className={styles.below}>{below}</p>}
      </div>
    </main>
  )
}
