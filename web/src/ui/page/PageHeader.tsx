import type { ReactNode } from 'react'
import styles from './PageHeader.module.css'

interface PageHeaderProps {
  title: string
  /** The way back, before the title. */
  before?: ReactNode
  /** View switch and search, after the title. */
  children?: ReactNode
  /** The main action, at the end. */
  action?: ReactNode
}

/** The line of 48 px that each page begins with. */
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
