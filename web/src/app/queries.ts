import { QueryClient } from '@tanstack/react-query'
import { ApiError } from '../api/api-error.ts'

/** Creates the query client. The live stream says what is out of date, so queries do not go stale by time. */
export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 60_000,
        gcTime: 30 * 60_000,
        refetchOnWindowFocus: false,
        retry: (count, error) => error instanceof ApiError && (error.isOffline || error.status >= 500) && count < 3,
        networkMode: 'always',
      },
      mutations: { networkMode: 'always' },
    },
  })
}
