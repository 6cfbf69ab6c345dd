import type { QueryClient } from '@tanstack/react-query'

/**
 * Reads again what is cached under a key, after news of it. What is just being read for the first time may be older than
 * the news, and would pass for new: it is read once more after that.
 */
export async function readAgain(queries: QueryClient, queryKey: readonly unknown[]): Promise<void> {
  const first = queries
    .getQueryCache()
    .findAll({ queryKey, fetchStatus: 'fetching' })
    .filter(({ state }) => state.data === undefined)
  const behind = first.map(async ({ promise, queryKey }) => {
    await promise?.catch(() => {})
    await queries.invalidateQueries({ queryKey, exact: true })
  })
  // The others do not wait for the slowest of these.
  await Promise.all([queries.invalidateQueries({ queryKey }), ...behind])
}
