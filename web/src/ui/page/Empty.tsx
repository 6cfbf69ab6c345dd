import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import styles from './states.module.css'

interface EmptyProps {
  title: string
  help?: ReactNode
  action?: { label: string; run(): void }
}

/** What stands where nothing is yet: one sentence, one action. */
export function Empty({ title, help, action }: EmptyProps) {
  return (
    <div className={styles.state}>
      <h2 className={styles.title}>{title}</h2>
      {help !== undefined && <p className={styles.help}>{help}</p>}
      {action !== undefined && (
        <Button variant="default" onClick={action.run}>
          {action.label}
        </Button>
      )}
    </div>
  )
}
