import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useRef } from 'react'
import { api, unwrap } from '../api/client.ts'
import { useIsLiveReady, useLive } from '../api/live.ts'
import { refetchQueries } from '../api/refetch.ts'
import type { paths } from '../api/schema.ts'
import { connectionKey, connectionsKey } from './workspace-updates.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/connections'
const onePath = `${path}/{connectionId}` as const

type Json<T extends { requestBody: { content: { 'application/json': unknown } } }> =
  T['requestBody']['content']['application/json']
export type Connection = Awaited<ReturnType<typeof listConnections>>['connections'][number]
export type Channel = Connection['channel']
export type Health = Awaited<ReturnType<typeof readHealth>>
export type Session = Awaited<ReturnType<typeof readSession>>
export type Template = Awaited<ReturnType<typeof listTemplates>>[number]
export type NewConnection = Json<paths[typeof path]['post']>
export type ConnectionChanges = Json<paths[typeof onePath]['patch']>
export type CreatedConnection = Awaited<ReturnType<typeof createConnection>>

const at = (workspaceId: string, connectionId: string) => ({ params: { path: { workspaceId, connectionId } } })
const partKey = (workspaceId: string, id: string, part: 'health' | 'session' | 'templates') =>
  [...connectionKey(workspaceId, id), part] as const

async function listConnections(workspaceId: string) {
  return unwrap(api.GET(path, { params: { path: { workspaceId } } }))
}

async function readHealth(workspaceId: string, id: string) {
  return (await unwrap(api.GET(`${onePath}/health`, at(workspaceId, id)))).health
}

async function readSession(workspaceId: string, id: string) {
  return (await unwrap(api.GET(`${onePath}/session`, at(workspaceId, id)))).session
}

async function listTemplates(workspaceId: string, id: string) {
  return (await unwrap(api.GET(`${onePath}/templates`, at(workspaceId, id)))).templates
}

const listQuery = (workspaceId: string) => ({
  queryKey: connectionsKey(workspaceId),
  queryFn: () => listConnections(workspaceId),
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
  return useQuery({ queryKey: partKey(workspaceId, id, 'health'), queryFn: () => readHealth(workspaceId, id) })
}

export function useSession(workspaceId: string, id: string) {
  return useQuery({ queryKey: partKey(workspaceId, id, 'session'), queryFn: () => readSession(workspaceId, id) })
}

export const templatesQuery = (workspaceId: string, id: string) => ({
  queryKey: partKey(workspaceId, id, 'templates'),
  queryFn: () => listTemplates(workspaceId, id),
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
  queries.setQueryData<Awaited<ReturnType<typeof listConnections>>>(connectionsKey(workspaceId), (list) => {
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

const createConnection = (workspaceId: string, input: NewConnection) =>
  unwrap(api.POST(path, { params: { path: { workspaceId } }, body: input }))

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
      kept(unwrap(api.PATCH(onePath, { ...at(workspaceId, id), body: changes }))),
    pause: (id: string) => kept(unwrap(api.POST(`${onePath}/pause`, at(workspaceId, id)))),
    resume: (id: string) => kept(unwrap(api.POST(`${onePath}/resume`, at(workspaceId, id)))),
    rotateSecret: async (id: string) => {
      const created = await unwrap(api.POST(`${onePath}/identity-secret`, at(workspaceId, id)))
      void queries.invalidateQueries({ queryKey: connectionsKey(workspaceId) })
      return created
    },
    acknowledge: (id: string) => kept(unwrap(api.POST(`${onePath}/acknowledge`, at(workspaceId, id)))),
    pair: (id: string, pairing: { method: 'qr' } | { method: 'code'; phone: string }) =>
      session(id, unwrap(api.POST(`${onePath}/pair`, { ...at(workspaceId, id), body: pairing }))),
    unpair: (id: string) => session(id, unwrap(api.POST(`${onePath}/unpair`, at(workspaceId, id)))),
    syncTemplates: async (id: string) => {
      const { templates } = await unwrap(api.POST(`${onePath}/templates/sync`, at(workspaceId, id)))
      queries.setQueryData(partKey(workspaceId, id, 'templates'), templates)
      await queries.invalidateQueries({ queryKey: connectionsKey(workspaceId) })
      return templates
    },
    remove: async (id: string) => {
      await unwrap(api.DELETE(onePath, at(workspaceId, id)))
      await queries.invalidateQueries({ queryKey: connectionsKey(workspaceId) })
    },
  }
}
