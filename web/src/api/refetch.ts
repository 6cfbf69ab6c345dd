import type { Query, QueryClient, QueryKey } from '@tanstack/react-query'

/**
 * Refetches queries after an event. A response that is under way may be older than the event, so these queries are
 * fetched once more after it. They are not cancelled: if events came faster than responses, no response would ever be
 * shown.
 */
export async function refetchQueries(queries: QueryClient, queryKey: readonly unknown[]): Promise<void> {
  const fetching = queries.getQueryCache().findAll({ queryKey, fetchStatus: 'fetching' })
  const behind = fetching.map((query) => refetchWhenSettled(queries, query))
  // The other queries do not wait for the slowest of these.
  await Promise.all([queries.invalidateQueries({ queryKey }, { cancelRefetch: false }), ...behind])
}

/** Refetches like `refetchQueries`, but cancels requests under way: after a break their responses may never come. */
export async function restartQueries(queries: QueryClient, queryKey: readonly unknown[]): Promise<void> {
  const fetching = queries.getQueryCache().findAll({ queryKey, fetchStatus: 'fetching' })
  // `invalidateQueries` does not cancel a query's first fetch.
  const first = fetching.filter(({ state }) => state.data === undefined)
  const behind = first.map((query) => refetchWhenSettled(queries, query))
  await Promise.all([queries.invalidateQueries({ queryKey }), ...behind])
}

async function refetchWhenSettled(queries: QueryClient, { promise, queryKey }: Query): Promise<void> {
  await promise?.catch(() => {})
  await queries.invalidateQueries({ queryKey, exact: true }, { cancelRefetch: false })
}

/** Returns a function that waits for a change, then refetches the queries that show it, and resolves to its response. */
export const refetchedAfter =
  (queries: QueryClient, queryKey: QueryKey) =>
  async <T>(change: Promise<T>): Promise<T> => {
    const response = await change
    await refetchQueries(queries, queryKey)
    return response
  }
