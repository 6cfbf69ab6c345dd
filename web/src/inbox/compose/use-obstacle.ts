import { useConnections } from '../../data/connections.ts'
import type { Conversation } from '../../data/inbox/types.ts'
import { useWorkspace } from '../../data/workspace.ts'
import { type Obstacle, obstacleOf } from './obstacle.ts'

/** Why nothing can be sent now; null while that is not known, and when all is well. */
export function useObstacle(workspaceId: string, { connectionId }: Conversation): Obstacle | null {
  const { data: workspace } = useWorkspace(workspaceId)
  const { data: connections } = useConnections(workspaceId)
  if (workspace === undefined || connections === undefined) return null
  const connection = connections.find(({ id }) => id === connectionId)
  return obstacleOf(workspace, connection, Date.now())
}
