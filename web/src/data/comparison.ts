import { useQuery } from '@tanstack/react-query'
import { api, unwrap } from '../api/client.ts'
import { timeZone } from './time-zone.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/stats/comparison'
const freshMs = 60_000

export type Comparison = Awaited<ReturnType<typeof readComparison>>

function readComparison(workspaceId: string, days: number) {
  return unwrap(api.GET(path, { params: { path: { workspaceId }, query: { days, tz: timeZone() } } }))
}

/** Returns a period compared with the previous one. An expensive query, so it is refetched at most once a minute. */
export function useComparison(workspaceId: string, days: number) {
  return useQuery({
    queryKey: [workspaceId, 'comparison', days],
    queryFn: () => readComparison(workspaceId, days),
    staleTime: freshMs,
    placeholderData: (before) => before,
  })
}
