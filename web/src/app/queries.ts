import { QueryClient } from '@tanstack/react-query'
import { ApiError } from '../api/api-error.ts'

/** The live stream says what is out of date, so that nothing is asked for again just because a while has passed. */
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
