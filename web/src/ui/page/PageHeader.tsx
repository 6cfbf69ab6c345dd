import type { ReactNode } from 'react'
import styles from './PageHeader.module.css'

interface PageHeaderProps {
  title: string
  /** Back link, before the title. */
  before?: ReactNode
  /** View switch and search, after the title. */
  children?: ReactNode
  /** Primary action, at the end. */
  action?: ReactNode
}

/** Header of a page, 48 px high. */
export function PageHeader({ title, before, children, action }: PageHeaderProps) {
  return (
    <header className={styles.header}>
      {before}
      <h1 className={styles.title} dir="auto">
        {title}
      </h1>
      <div className={styles.middle}>{children}</div>
      {action}
    </header>
  )
}
