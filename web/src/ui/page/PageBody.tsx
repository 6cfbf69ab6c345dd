import { Skeleton } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ErrorState } from './ErrorState.tsx'
import styles from './PageBody.module.css'

/** The scrolling part of a page under its header; `narrow` for what is read rather than scanned. */
export function PageBody({ children, narrow }: { children: ReactNode; narrow?: boolean }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must scroll by keyboard
    <div className={styles.body} tabIndex={0}>
      <div className={styles.content} data-narrow={narrow || undefined}>
        {children}
      </div>
    </div>
  )
}

interface QueryBoundaryProps<T> {
  query: UseQueryResult<T>
  /** The shape of what comes. */
  rows?: number
  children: (data: T) => ReactNode
}

/** What a query gave: its shape while it loads, its trouble if it failed, and old rows rather than none. */
export function QueryBoundary<T>({ query, rows = 6, children }: QueryBoundaryProps<T>) {
  if (query.data !== undefined) return children(query.data)
  if (query.isError) return <ErrorState error={query.error} retry={() => void query.refetch()} />
  return (
    <div className={styles.skeleton} aria-busy="true">
      {Array.from({ length: rows }, (_, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows without content
        <Skeleton key={n} height={20} radius={4} />
      ))}
    </div>
  )
}
