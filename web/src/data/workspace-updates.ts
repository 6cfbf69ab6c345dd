import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useRef } from 'react'
import { type LiveEvent, useLive, useLiveState } from '../api/live.ts'
import { refetchQueries, restartQueries } from '../api/refetch.ts'
import { workspaceKey } from './workspace.ts'

export const membersKey = (workspaceId: string) => [workspaceId, 'members'] as const
export const connectionsKey = (workspaceId: string) => [workspaceId, 'connections'] as const
export const teamsKey = (workspaceId: string) => [workspaceId, 'teams'] as const
export const teamServicesKey = (workspaceId: string) => [workspaceId, 'team-services'] as const
export const routingKey = (workspaceId: string) => [workspaceId, 'routing'] as const
/** Everything cached of a single connection. */
export const connectionKey = (workspaceId: string, id: string) => [workspaceId, 'connection', id] as const

const eventNames = ['team.connection.changed', 'team.member.changed', 'team.workspace.changed'] as const

/** Keeps the workspace data of all pages fresh, including pages where the inbox updates are not mounted. */
export function useLiveWorkspace(workspaceId: string): void {
  const queries = useQueryClient()
  useLive(
    eventNames,
    useCallback(
      ({ event, payload }: LiveEvent) => {
        const read = (key: readonly string[]) => void refetchQueries(queries, key)
        if (event === 'team.member.changed') return read(membersKey(workspaceId))
        if (event === 'team.workspace.changed') {
          for (const key of [workspaceKey, teamsKey, routingKey, teamServicesKey]) read(key(workspaceId))
          return
        }
        const { connectionId } = payload as { connectionId: string }
        read(connectionsKey(workspaceId))
        read(connectionKey(workspaceId, connectionId))
      },
      [queries, workspaceId],
    ),
  )
  // These events are not repeated, and changes before the stream was open were not announced.
  const state = useLiveState()
  const before = useRef(state)
  useEffect(() => {
    if (state === 'open' && before.current !== 'open') {
      for (const key of [workspaceKey, connectionsKey, teamsKey]) void restartQueries(queries, key(workspaceId))
    }
    before.current = state
  }, [state, queries, workspaceId])
}
