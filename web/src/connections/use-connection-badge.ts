import { useEffect } from 'react'
import { useConnections } from '../data/connections.ts'
import { t } from '../text/index.ts'
import { setRailBadge } from '../ui/rail-badges.ts'
import { needsAttention } from './parts/state-texts.ts'

/** Shows the number of connections that cannot send in the rail. */
export function useConnectionBadge(workspaceId: string): void {
  const { data = [] } = useConnections(workspaceId)
  const count = data.filter(needsAttention).length
  useEffect(
    () => setRailBadge('connections', { count, tone: 'bad', label: t.connections.problemCount({ n: count }) }),
    [count],
  )
}
