import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import styles from './states.module.css'

interface EmptyStateProps {
  title: string
  help?: ReactNode
  action?: { label: string; run(): void }
  /** Whether it replaces a whole page and is its heading. */
  isPage?: true
}

/** Placeholder without data: one sentence, one action. */
export function EmptyState({ title, help, action, isPage }: EmptyStateProps) {
  const Title = isPage ? 'h1' : 'h2'
  return (
    <div className={styles.state}>
      <Title className={styles.title}>{title}</Title>
      {help !== undefined && <p className={styles.help}>{help}</p>}
      {action !== undefined && (
        <Button variant="default" onClick={action.run}>
          {action.label}
        </Button>
      )}
    </div>
  )
}
