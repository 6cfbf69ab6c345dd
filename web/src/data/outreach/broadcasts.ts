import { type QueryClient, useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { api, type Schemas, unwrap } from '../../api/client.ts'
import { useLive, useOnStreamOpen } from '../../api/live.ts'
import { refetchQueries } from '../../api/refetch.ts'
import { throttle } from '../../api/throttle.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/broadcasts' as const
const onePath = `${path}/{broadcastId}` as const

export type Broadcast = Schemas['Broadcast']
export type BroadcastDraft = Schemas['BroadcastDraft']
export type Variant = Schemas['BroadcastVariant']
export type Variable = Schemas['BroadcastVariable']
export type BroadcastStart = Schemas['BroadcastStart']
export type Recipient = Schemas['BroadcastRecipient']

const broadcastsKey = (workspaceId: string) => [workspaceId, 'broadcasts'] as const
const at = (workspaceId: string, broadcastId: string) => ({ params: { path: { workspaceId, broadcastId } } })
const all = (workspaceId: string) => ({ params: { path: { workspaceId } } })

const refetchBroadcasts = (queries: QueryClient, workspaceId: string) =>
  refetchQueries(queries, broadcastsKey(workspaceId))

const liveEvents = ['team.broadcast.changed']
const intervalMs = 1_000

/** Keeps broadcasts fresh while a page shows them. */
function useLiveBroadcasts(workspaceId: string): void {
  const queries = useQueryClient()
  const reload = useMemo(
    () => throttle(intervalMs, () => refetchBroadcasts(queries, workspaceId)),
    [queries, workspaceId],
  )
  useLive(liveEvents, reload)
  useOnStreamOpen(reload)
}

export function useBroadcasts(workspaceId: string) {
  useLiveBroadcasts(workspaceId)
  return useQuery({
    queryKey: [...broadcastsKey(workspaceId), 'list'],
    queryFn: () => unwrap(api.GET(path, all(workspaceId))),
  })
}

export function useBroadcast(workspaceId: string, id: string) {
  useLiveBroadcasts(workspaceId)
  return useQuery({
    queryKey: [...broadcastsKey(workspaceId), 'one', id],
    queryFn: async () => (await unwrap(api.GET(onePath, at(workspaceId, id)))).broadcast,
  })
}

/** Returns recipients page by page; `status` limits them. */
export function useRecipients(workspaceId: string, id: string, status: Recipient['status'] | null) {
  return useInfiniteQuery({
    queryKey: [...broadcastsKey(workspaceId), 'recipients', id, status],
    queryFn: ({ pageParam }) =>
      unwrap(
        api.GET(`${onePath}/recipients`, {
          params: {
            path: { workspaceId, broadcastId: id },
            query: { ...(status !== null && { status }), ...(pageParam !== null && { after: pageParam }) },
          },
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: ({ after }) => after,
  })
}

export type BroadcastPreviewRequest = Schemas['BroadcastPreviewRequest']

/** Fills templates in for some leads; null: there is nothing to fill in yet. */
export function useBroadcastPreview(workspaceId: string, request: BroadcastPreviewRequest | null) {
  return useQuery({
    queryKey: [...broadcastsKey(workspaceId), 'preview', request],
    queryFn: () =>
      request === null ? null : unwrap(api.POST(`${path}/preview`, { ...all(workspaceId), body: request })),
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
    const refetched = async <T>(work: Promise<T>): Promise<T> => {
      const done = await work
      await refetchBroadcasts(queries, workspaceId)
      return done
    }
    return {
      save: async (id: string | null, body: BroadcastDraft): Promise<Broadcast> =>
        (
          await refetched(
            id === null
              ? unwrap(api.POST(path, { ...all(workspaceId), body }))
              : unwrap(api.PUT(onePath, { ...at(workspaceId, id), body })),
          )
        ).broadcast,
      remove: (id: string) => refetched(unwrap(api.DELETE(onePath, at(workspaceId, id)))),
      control: (id: string, name: Control) =>
        refetched(unwrap(api.POST(`${onePath}/${name}` as `${typeof onePath}/count`, at(workspaceId, id)))),
      start: (id: string, body: BroadcastStart) =>
        refetched(unwrap(api.POST(`${onePath}/start`, { ...at(workspaceId, id), body }))),
      test: (id: string, body: Schemas['BroadcastTest'], key: string) =>
        unwrap(
          api.POST(`${onePath}/test`, {
            params: { path: { workspaceId, broadcastId: id }, header: { 'idempotency-key': key } },
            body,
          }),
        ),
      setApproval: (approval: boolean) =>
        refetched(
          unwrap(
            api.PUT('/api/team/v1/workspaces/{workspaceId}/broadcast-settings', {
              ...all(workspaceId),
              body: { approval },
            }),
          ),
        ),
    }
  }, [queries, workspaceId])
}
