import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api, type ResponseOf } from '../api/client.ts'
import { refetchQueries } from '../api/refetch.ts'
import { eventNameValues } from '../api/schema.ts'
import { useAfterEvents } from '../ui/use-after-events.ts'
import { timeZone } from './time-zone.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/stats'
const pollMs = 3000

export type Stats = ResponseOf<typeof path>
export type Attention = Stats['attention'][number]

// No figure depends on delivery status.
const countedEvents = eventNameValues.filter((name) => name !== 'inbox.message.status')

export const statsKey = (workspaceId: string) => [workspaceId, 'stats'] as const

/** Returns statistics, refetched when the page is opened and shortly after events while it is open. */
export function useStats(workspaceId: string, days: number) {
  const queries = useQueryClient()
  useAfterEvents(countedEvents, pollMs, () => void refetchQueries(queries, statsKey(workspaceId)))
  return useQuery({
    queryKey: [...statsKey(workspaceId), days],
    queryFn: () => api.GET(path, { workspaceId, query: { days, tz: timeZone() } }),
    staleTime: 5000,
    placeholderData: (before) => before,
  })
}
