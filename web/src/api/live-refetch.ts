import { hashKey, type QueryKey, useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useLive, useOnStreamOpen } from './live.ts'
import { refetchQueries } from './refetch.ts'
import { throttle } from './throttle.ts'

/** Refetches queries after events with these names, at a limited rate, and when the stream opens. `names` is stable. */
export function useLiveRefetch(queryKey: QueryKey, names: readonly string[], intervalMs: number): void {
  const queries = useQueryClient()
  const hash = hashKey(queryKey)
  const reload = useMemo(
    () => throttle(intervalMs, () => refetchQueries(queries, JSON.parse(hash) as QueryKey)),
    [queries, hash, intervalMs],
  )
  useLive(names, reload)
  useOnStreamOpen(reload)
}
