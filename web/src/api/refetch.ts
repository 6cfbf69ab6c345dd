import type { Query, QueryClient } from '@tanstack/react-query'

/**
 * Reads again what is cached under a key, after news of it. What is just being read may be older than the news, and
 * would pass for new: it is read once more after that. Not in place of that: where news come faster than answers, no
 * answer would ever be shown.
 */
export async function refetchQueries(queries: QueryClient, queryKey: readonly unknown[]): Promise<void> {
  const fetching = queries.getQueryCache().findAll({ queryKey, fetchStatus: 'fetching' })
  const behind = fetching.map((query) => refetchWhenSettled(queries, query))
  // The others do not wait for the slowest of these.
  await Promise.all([queries.invalidateQueries({ queryKey }, { cancelRefetch: false }), ...behind])
}

/** The same, with readings that are under way given up: after a break their answers may never come. */
export async function restartQueries(queries: QueryClient, queryKey: readonly unknown[]): Promise<void> {
  const fetching = queries.getQueryCache().findAll({ queryKey, fetchStatus: 'fetching' })
  // The first reading of something is not given up by `invalidateQueries`.
  const first = fetching.filter(({ state }) => state.data === undefined)
  const behind = first.map((query) => refetchWhenSettled(queries, query))
  await Promise.all([queries.invalidateQueries({ queryKey }), ...behind])
}

async function refetchWhenSettled(queries: QueryClient, { promise, queryKey }: Query): Promise<void> {
  await promise?.catch(() => {})
  await queries.invalidateQueries({ queryKey, exact: true }, { cancelRefetch: false })
}
