import { type InfiniteData, type QueryClient, queryOptions, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { api, unwrap } from '../api/client.ts'
import { refetchQueries } from '../api/refetch.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/notices'
const at = (workspaceId: string) => ({ params: { path: { workspaceId } } })
const pageSize = 20

type NotificationsPage = Awaited<ReturnType<typeof listNotifications>>
export type Notification = NotificationsPage['notices'][number]
export type NotificationPreferences = Awaited<ReturnType<typeof readPreferences>>['settings']
export type NotificationKind = Notification['kind']
export type NotificationTone = NonNullable<NotificationPreferences['tone']>
export type NotificationMethod = keyof NotificationPreferences['ways'][NotificationKind]

/** Sound for people who have not chosen one. */
export const defaultTone: NotificationTone = 'chime'

/** Loaded pages of notifications. */
export interface NotificationFeed {
  notifications: Notification[]
  unread: number
  /** Whether quiet hours are active now. */
  isMuted: boolean
}

const listKey = (workspaceId: string) => [workspaceId, 'notices'] as const
const preferencesKey = (workspaceId: string) => [workspaceId, 'notice-settings'] as const

const listNotifications = (workspaceId: string, cursor: string | null) =>
  unwrap(
    api.GET(path, {
      params: { path: { workspaceId }, query: { limit: pageSize, ...(cursor !== null && { cursor }) } },
    }),
  )

const readPreferences = (workspaceId: string) => unwrap(api.GET(`${path}/settings`, at(workspaceId)))

/** Returns notifications, newest first; refetched when the stream announces changes. */
export function useNotifications(workspaceId: string) {
  return useInfiniteQuery({
    queryKey: listKey(workspaceId),
    queryFn: ({ pageParam }) => listNotifications(workspaceId, pageParam),
    initialPageParam: null as string | null,
    getNextPageParam: ({ cursor }) => cursor,
    staleTime: Number.POSITIVE_INFINITY,
    select: toFeed,
  })
}

function toFeed({ pages }: InfiniteData<NotificationsPage>): NotificationFeed {
  const [first] = pages
  return {
    notifications: pages.flatMap(({ notices }) => notices),
    unread: first?.unread ?? 0,
    isMuted: first?.quiet ?? false,
  }
}

export const refetchNotifications = (queries: QueryClient, workspaceId: string) =>
  refetchQueries(queries, listKey(workspaceId))

/** Marks these notifications as read, or those of a conversation, or all. */
export const markNotificationsRead = (workspaceId: string, which: { ids?: string[]; conversationId?: string } = {}) =>
  unwrap(api.POST(`${path}/read`, { ...at(workspaceId), body: which }))

const preferencesQuery = (workspaceId: string) =>
  queryOptions({ queryKey: preferencesKey(workspaceId), queryFn: () => readPreferences(workspaceId) })

export function useNotificationPreferences(workspaceId: string) {
  return useQuery(preferencesQuery(workspaceId))
}

/** Returns the cached preferences, or loads them once. */
export const loadNotificationPreferences = async (
  queries: QueryClient,
  workspaceId: string,
): Promise<NotificationPreferences> => (await queries.ensureQueryData(preferencesQuery(workspaceId))).settings

/** Returns the public key for push subscriptions. */
export const pushKey = async (queries: QueryClient, workspaceId: string): Promise<string> =>
  (await queries.ensureQueryData(preferencesQuery(workspaceId))).pushKey

export async function saveNotificationPreferences(
  queries: QueryClient,
  workspaceId: string,
  settings: NotificationPreferences,
): Promise<void> {
  const changed = await unwrap(api.PUT(`${path}/settings`, { ...at(workspaceId), body: settings }))
  queries.setQueryData(preferencesKey(workspaceId), changed)
}
