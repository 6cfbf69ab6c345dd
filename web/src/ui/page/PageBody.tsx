import { Skeleton } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ErrorState } from './ErrorState.tsx'
import styles from './PageBody.module.css'

/** Scrolling part of a page below its header; `narrow` for text. */
export function PageBody({ children, narrow }: { children: ReactNode; narrow?: boolean }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be scrollable by keyboard
    <div className={styles.body} tabIndex={0}>
      <div className={styles.content} data-narrow={narrow || undefined}>
        {children}
      </div>
    </div>
  )
}

interface QueryBoundaryProps<T> {
  query: UseQueryResult<T>
  /** Number of skeleton rows. */
  rows?: number
  children: (data: T) => ReactNode
}

/** Shows a query: skeleton while loading, error if it failed, old data rather than an error. */
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
