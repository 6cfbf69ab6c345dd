import { type ReactNode, useId } from 'react'
import styles from '../detail/detail.module.css'

interface SectionProps {
  title: string
  /** Shown at the end of the heading. */
  action?: ReactNode
  children: ReactNode
}

/** Card on the page of a connection. */
export function Section({ title, action, children }: SectionProps) {
  const id = useId()
  return (
    <section className={styles.section} aria-labelledby={id}>
      <div className={styles.head}>
        <h2 id={id} className={styles.title}>
          {title}
        </h2>
        {action}
      </div>
      {children}
    </section>
  )
}
