import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useRef } from 'react'
import { api, type RequestOf, type ResponseOf } from '../api/client.ts'
import { useIsLiveReady, useLive } from '../api/live.ts'
import { refetchQueries } from '../api/refetch.ts'
import { connectionKey, connectionsKey } from './workspace-updates.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/connections'
const onePath = `${path}/{connectionId}` as const

export type Connection = ResponseOf<typeof path>['connections'][number]
export type Channel = Connection['channel']
export type Session = ResponseOf<`${typeof onePath}/session`>['session']
export type Template = ResponseOf<`${typeof onePath}/templates`>['templates'][number]
export type NewConnection = RequestOf<typeof path, 'post'>
export type ConnectionChanges = RequestOf<typeof onePath, 'patch'>
export type CreatedConnection = Awaited<ReturnType<typeof createConnection>>

const partKey = (workspaceId: string, id: string, part: 'health' | 'session' | 'templates') =>
  [...connectionKey(workspaceId, id), part] as const

const listQuery = (workspaceId: string) => ({
  queryKey: connectionsKey(workspaceId),
  queryFn: () => api.GET(path, { workspaceId }),
})

export function useConnections(workspaceId: string) {
  const enabled = useIsLiveReady()
  return useQuery({ ...listQuery(workspaceId), select: ({ connections }) => connections, enabled })
}

/** Address of the simulator; null if none runs or it is not known yet. */
export function useSimulatorUrl(workspaceId: string): string | null {
  const enabled = useIsLiveReady()
  return useQuery({ ...listQuery(workspaceId), select: ({ simulatorUrl }) => simulatorUrl, enabled }).data ?? null
}

export function useHealth(workspaceId: string, id: string) {
  const queryFn = async () => (await api.GET(`${onePath}/health`, { workspaceId, connectionId: id })).health
  return useQuery({ queryKey: partKey(workspaceId, id, 'health'), queryFn })
}

export function useSession(workspaceId: string, id: string) {
  const queryFn = async () => (await api.GET(`${onePath}/session`, { workspaceId, connectionId: id })).session
  return useQuery({ queryKey: partKey(workspaceId, id, 'session'), queryFn })
}

export const templatesQuery = (workspaceId: string, id: string) => ({
  queryKey: partKey(workspaceId, id, 'templates'),
  queryFn: async () => (await api.GET(`${onePath}/templates`, { workspaceId, connectionId: id })).templates,
})

export const useTemplates = (workspaceId: string, id: string) => useQuery(templatesQuery(workspaceId, id))

const traffic = ['inbox.message.received', 'inbox.message.sent', 'inbox.message.status'] as const
const trafficIntervalMs = 5_000

/** Keeps traffic figures fresh while the page of a connection is open, at a limited rate. */
export function useLiveTraffic(workspaceId: string, id: string): void {
  const queries = useQueryClient()
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  useLive(
    traffic,
    useCallback(() => {
      if (timer.current !== undefined) return
      const read = () => {
        void refetchQueries(queries, connectionsKey(workspaceId))
        void refetchQueries(queries, partKey(workspaceId, id, 'health'))
      }
      read()
      timer.current = setTimeout(() => {
        timer.current = undefined
        read()
      }, trafficIntervalMs)
    }, [queries, workspaceId, id]),
  )
}

/**
 * Caches the response of a change; the live stream updates other browsers. An event before the response may be newer,
 * so everything is refetched as well.
 */
export function cacheConnection(queries: QueryClient, workspaceId: string, connection: Connection): Connection {
  queries.setQueryData<ResponseOf<typeof path>>(connectionsKey(workspaceId), (list) => {
    if (list === undefined) return list
    const isKnown = list.connections.some(({ id }) => id === connection.id)
    const connections = isKnown
      ? list.connections.map((one) => (one.id === connection.id ? connection : one))
      : [...list.connections, connection]
    return { ...list, connections }
  })
  void queries.invalidateQueries({ queryKey: connectionsKey(workspaceId) })
  void queries.invalidateQueries({ queryKey: connectionKey(workspaceId, connection.id) })
  return connection
}

const createConnection = (workspaceId: string, input: NewConnection) => api.POST(path, { workspaceId, body: input })

/** Returns actions on connections. Each rejects with the error of the server. */
export function useConnectionActions(workspaceId: string) {
  const queries = useQueryClient()
  const kept = async (response: Promise<{ connection: Connection }>) =>
    cacheConnection(queries, workspaceId, (await response).connection)
  const session = async (id: string, response: Promise<{ session: Session }>) => {
    const queryKey = partKey(workspaceId, id, 'session')
    queries.setQueryData(queryKey, (await response).session)
    // The pairing code may have arrived before the response.
    void queries.invalidateQueries({ queryKey })
  }
  return {
    create: async (input: NewConnection) => {
      const created = await createConnection(workspaceId, input)
      cacheConnection(queries, workspaceId, created.connection)
      return created
    },
    change: (id: string, changes: ConnectionChanges) =>
      kept(api.PATCH(onePath, { workspaceId, connectionId: id, body: changes })),
    pause: (id: string) => kept(api.POST(`${onePath}/pause`, { workspaceId, connectionId: id })),
    resume: (id: string) => kept(api.POST(`${onePath}/resume`, { workspaceId, connectionId: id })),
    rotateSecret: async (id: string) => {
      const created = await api.POST(`${onePath}/identity-secret`, { workspaceId, connectionId: id })
      void queries.invalidateQueries({ queryKey: connectionsKey(workspaceId) })
      return created
    },
    acknowledge: (id: string) => kept(api.POST(`${onePath}/acknowledge`, { workspaceId, connectionId: id })),
    pair: (id: string, pairing: { method: 'qr' } | { method: 'code'; phone: string }) =>
      session(id, api.POST(`${onePath}/pair`, { workspaceId, connectionId: id, body: pairing })),
    unpair: (id: string) => session(id, api.POST(`${onePath}/unpair`, { workspaceId, connectionId: id })),
    syncTemplates: async (id: string) => {
      const { templates } = await api.POST(`${onePath}/templates/sync`, { workspaceId, connectionId: id })
      queries.setQueryData(partKey(workspaceId, id, 'templates'), templates)
      await queries.invalidateQueries({ queryKey: connectionsKey(workspaceId) })
      return templates
    },
    remove: async (id: string) => {
      await api.DELETE(onePath, { workspaceId, connectionId: id })
      await queries.invalidateQueries({ queryKey: connectionsKey(workspaceId) })
    },
  }
}
