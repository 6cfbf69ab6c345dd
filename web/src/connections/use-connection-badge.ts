import { useEffect } from 'react'
import { useConnections } from '../data/connections.ts'
import { t } from '../text/index.ts'
import { setRailBadge } from '../ui/rail-badges.ts'
import { isInTrouble } from './parts/state-texts.ts'

/** Counts at the rail the connections that cannot send. */
export function useConnectionBadge(workspaceId: string): void {
  const { data = [] } = useConnections(workspaceId)
  const count = data.filter(isInTrouble).length
  useEffect(
    () => setRailBadge('connections', { count, tone: 'bad', label: t.connections.inTrouble({ n: count }) }),
    [count],
  )
}
