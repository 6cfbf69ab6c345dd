import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api, unwrap } from '../api/client.ts'
import { refetchQueries } from '../api/refetch.ts'
import { eventNameValues } from '../api/schema.ts'
import { useAfterEvents } from '../ui/use-after-events.ts'
import { timeZone } from './time-zone.ts'

const path = '/api/team/v1/workspaces/{workspaceId}'
const pollMs = 3000

export type Stats = Awaited<ReturnType<typeof readStats>>
export type Attention = Stats['attention'][number]

// No figure depends on delivery status.
const countedEvents = eventNameValues.filter((name) => name !== 'inbox.message.status')

export const statsKey = (workspaceId: string) => [workspaceId, 'stats'] as const

function readStats(workspaceId: string, days: number) {
  return unwrap(api.GET(`${path}/stats`, { params: { path: { workspaceId }, query: { days, tz: timeZone() } } }))
}

/** Returns statistics, refetched when the page is opened and shortly after events while it is open. */
export function useStats(workspaceId: string, days: number) {
  const queries = useQueryClient()
  useAfterEvents(countedEvents, pollMs, () => void refetchQueries(queries, statsKey(workspaceId)))
  return useQuery({
    queryKey: [...statsKey(workspaceId), days],
    queryFn: () => readStats(workspaceId, days),
    staleTime: 5000,
    placeholderData: (before) => before,
  })
}
