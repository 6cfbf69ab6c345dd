import { type InfiniteData, type QueryClient, queryOptions, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { api, type ResponseOf, type Schemas } from '../api/client.ts'
import { pagedBy } from '../api/paged-by.ts'
import { refetchQueries } from '../api/refetch.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/notices'
const pageSize = 20

type NotificationsPage = ResponseOf<typeof path>
export type Notification = Schemas['Notice']
export type NotificationPreferences = Schemas['NoticeSettings']
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

/** Returns notifications, newest first; refetched when the stream announces changes. */
export function useNotifications(workspaceId: string) {
  return useInfiniteQuery({
    queryKey: listKey(workspaceId),
    queryFn: ({ pageParam: cursor }) => api.GET(path, { workspaceId, query: { limit: pageSize, cursor } }),
    ...pagedBy('cursor'),
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
  api.POST(`${path}/read`, { workspaceId, body: which })

const preferencesQuery = (workspaceId: string) =>
  queryOptions({
    queryKey: preferencesKey(workspaceId),
    queryFn: () => api.GET(`${path}/settings`, { workspaceId }),
  })

export const useNotificationPreferences = (workspaceId: string) => useQuery(preferencesQuery(workspaceId))

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
  const changed = await api.PUT(`${path}/settings`, { workspaceId, body: settings })
  queries.setQueryData(preferencesKey(workspaceId), changed)
}
