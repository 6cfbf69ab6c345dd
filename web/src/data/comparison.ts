import { useQuery } from '@tanstack/react-query'
import { api, type ResponseOf } from '../api/client.ts'
import { timeZone } from './time-zone.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/stats/comparison'
const freshMs = 60_000

export type Comparison = ResponseOf<typeof path>

/** Returns a period compared with the previous one. An expensive query, so it is refetched at most once a minute. */
export function useComparison(workspaceId: string, days: number) {
  return useQuery({
    queryKey: [workspaceId, 'comparison', days],
    queryFn: () => api.GET(path, { workspaceId, query: { days, tz: timeZone() } }),
    staleTime: freshMs,
    placeholderData: (before) => before,
  })
}
