import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { refetchQueries } from '../api/refetch.ts'
import { queryKeys, useEndpoints } from '../data/webhooks.ts'
import { t } from '../text/index.ts'
import { setRailBadge } from '../ui/rail-badges.ts'
import { endpointStatus, needsAttention } from './status.ts'
import { useAfterDeliveries } from './use-live-updates.ts'

const pollMs = 30_000

/** Shows the number of endpoints with problems in the rail. */
export function useWebhookBadge(workspaceId: string): void {
  const { data = [] } = useEndpoints(workspaceId)
  const queries = useQueryClient()
  useAfterDeliveries(pollMs, () => void refetchQueries(queries, queryKeys.list(workspaceId)))
  const count = data.filter((endpoint) => needsAttention(endpointStatus(endpoint))).length
  useEffect(() => {
    setRailBadge('webhooks', { count, tone: 'bad', label: t.webhooks.failingCount({ count }) })
    return () => setRailBadge('webhooks', null)
  }, [count])
}
