import { QueryClient } from '@tanstack/react-query'
import { Failure } from '../api/failure.ts'

/** The live stream says what is out of date, so that nothing is asked for again just because a while has passed. */
export function makeQueries(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 60_000,
        gcTime: 30 * 60_000,
        refetchOnWindowFocus: false,
        retry: (count, error) => error instanceof Failure && (error.isOffline || error.status >= 500) && count < 3,
        networkMode: 'always',
      },
      mutations: { networkMode: 'always' },
    },
  })
}
