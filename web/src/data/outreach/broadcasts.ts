import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { api, type Schemas } from '../../api/client.ts'
import { useLiveRefetch } from '../../api/live-refetch.ts'
import { pagedBy } from '../../api/paged-by.ts'
import { refetchedAfter } from '../../api/refetch.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/broadcasts' as const
const onePath = `${path}/{broadcastId}` as const
const settingsPath = '/api/team/v1/workspaces/{workspaceId}/broadcast-settings'

export type Broadcast = Schemas['Broadcast']
export type BroadcastDraft = Schemas['BroadcastDraft']
export type Variant = Schemas['BroadcastVariant']
export type Variable = Schemas['BroadcastVariable']
export type BroadcastStart = Schemas['BroadcastStart']
export type Recipient = Schemas['BroadcastRecipient']

const broadcastsKey = (workspaceId: string) => [workspaceId, 'broadcasts'] as const

const liveEvents = ['team.broadcast.changed']
const intervalMs = 1_000

/** Keeps broadcasts fresh while a page shows them. */
const useLiveBroadcasts = (workspaceId: string) => useLiveRefetch(broadcastsKey(workspaceId), liveEvents, intervalMs)

export function useBroadcasts(workspaceId: string) {
  useLiveBroadcasts(workspaceId)
  return useQuery({
    queryKey: [...broadcastsKey(workspaceId), 'list'],
    queryFn: () => api.GET(path, { workspaceId }),
  })
}

export function useBroadcast(workspaceId: string, id: string) {
  useLiveBroadcasts(workspaceId)
  return useQuery({
    queryKey: [...broadcastsKey(workspaceId), 'one', id],
    queryFn: async () => (await api.GET(onePath, { workspaceId, broadcastId: id })).broadcast,
  })
}

/** Returns recipients page by page; `status` limits them. */
export function useRecipients(workspaceId: string, id: string, status: Recipient['status'] | null) {
  return useInfiniteQuery({
    queryKey: [...broadcastsKey(workspaceId), 'recipients', id, status],
    queryFn: ({ pageParam: after }) =>
      api.GET(`${onePath}/recipients`, { workspaceId, broadcastId: id, query: { status, after } }),
    ...pagedBy('after'),
  })
}

export type BroadcastPreviewRequest = Schemas['BroadcastPreviewRequest']

/** Fills templates in for some leads; null: there is nothing to fill in yet. */
export function useBroadcastPreview(workspaceId: string, request: BroadcastPreviewRequest | null) {
  return useQuery({
    queryKey: [...broadcastsKey(workspaceId), 'preview', request],
    queryFn: () => (request === null ? null : api.POST(`${path}/preview`, { workspaceId, body: request })),
    enabled: request !== null,
    staleTime: 60_000,
  })
}

export const exportUrl = (workspaceId: string, id: string): string =>
  `${onePath.replace('{workspaceId}', workspaceId).replace('{broadcastId}', id)}/export`

type Control = 'count' | 'approve' | 'pause' | 'resume' | 'cancel'

/** Returns actions on broadcasts; each refetches them, and rejects with the error of the server. */
export function useBroadcastActions(workspaceId: string) {
  const queries = useQueryClient()
  return useMemo(() => {
    const refetched = refetchedAfter(queries, broadcastsKey(workspaceId))
    const at = (broadcastId: string) => ({ workspaceId, broadcastId })
    return {
      save: async (id: string | null, body: BroadcastDraft): Promise<Broadcast> => {
        const saving = id === null ? api.POST(path, { workspaceId, body }) : api.PUT(onePath, { ...at(id), body })
        return (await refetched(saving)).broadcast
      },
      remove: (id: string) => refetched(api.DELETE(onePath, at(id))),
      control: (id: string, name: Control) =>
        refetched(api.POST(`${onePath}/${name}` as `${typeof onePath}/count`, at(id))),
      start: (id: string, body: BroadcastStart) => refetched(api.POST(`${onePath}/start`, { ...at(id), body })),
      test: (id: string, body: Schemas['BroadcastTest'], key: string) =>
        api.POST(`${onePath}/test`, { ...at(id), headers: { 'idempotency-key': key }, body }),
      setApproval: (approval: boolean) => refetched(api.PUT(settingsPath, { workspaceId, body: { approval } })),
    }
  }, [queries, workspaceId])
}
