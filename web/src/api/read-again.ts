import type { QueryClient } from '@tanstack/react-query'

/**
 * Reads anew what is known under a key, after news of it. What is just being read for the first time may be older than
 * the news, and would pass for new: it is read once more behind it.
 */
export async function readAgain(queries: QueryClient, queryKey: readonly unknown[]): Promise<void> {
  const first = queries
    .getQueryCache()
    .findAll({ queryKey, fetchStatus: 'fetching' })
    .filter(({ state }) => state.data === undefined)
  await Promise.allSettled(first.map(({ promise }) => promise))
  await queries.invalidateQueries({ queryKey })
}
