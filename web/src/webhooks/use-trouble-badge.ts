import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { readAgain } from '../api/read-again.ts'
import { keysOf, useEndpoints } from '../data/webhooks.ts'
import { t } from '../text/index.ts'
import { setRailBadge } from '../ui/rail-badges.ts'
import { isTrouble, standingOf } from './standing.ts'
import { useAfterDeliveries } from './use-fresh.ts'

const lookEveryMs = 30_000

/** Shows at the rail how many endpoints are in trouble. */
export function useTroubleBadge(workspaceId: string): void {
  const { data = [] } = useEndpoints(workspaceId)
  const queries = useQueryClient()
  useAfterDeliveries(lookEveryMs, () => void readAgain(queries, keysOf.list(workspaceId)))
  const count = data.filter((endpoint) => isTrouble(standingOf(endpoint))).length
  useEffect(() => {
    setRailBadge('webhooks', { count, tone: 'bad', label: t.webhooks.trouble({ count }) })
    return () => setRailBadge('webhooks', null)
  }, [count])
}
