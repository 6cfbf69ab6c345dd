import { type InfiniteData, type QueryClient, queryOptions, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { api, body } from '../api/client.ts'
import { readAgain } from '../api/read-again.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/notices'
const at = (workspaceId: string) => ({ params: { path: { workspaceId } } })
const pageSize = 20

type NoticesPage = Awaited<ReturnType<typeof listNotices>>
export type Notice = NoticesPage['notices'][number]
export type NoticeSettings = Awaited<ReturnType<typeof readSettings>>['settings']
export type NoticeKind = Notice['kind']
export type NoticeTone = NonNullable<NoticeSettings['tone']>
export type NoticeWay = keyof NoticeSettings['ways'][NoticeKind]

/** With what a page sounds for who has not chosen. */
export const usualTone: NoticeTone = 'chime'

/** What somebody was told of, as far as it was asked for. */
export interface Told {
  notices: Notice[]
  unread: number
  /** Whether nothing is to sound or pop up at this moment. */
  isQuiet: boolean
}

const listKey = (workspaceId: string) => [workspaceId, 'notices'] as const
const settingsKey = (workspaceId: string) => [workspaceId, 'notice-settings'] as const

const listNotices = (workspaceId: string, cursor: string | null) =>
  body(
    api.GET(path, {
      params: { path: { workspaceId }, query: { limit: pageSize, ...(cursor !== null && { cursor }) } },
    }),
  )

const readSettings = (workspaceId: string) => body(api.GET(`${path}/settings`, at(workspaceId)))

/** The newest first; the stream says when they are to be read again. */
export function useNotices(workspaceId: string) {
  return useInfiniteQuery({
    queryKey: listKey(workspaceId),
    queryFn: ({ pageParam }) => listNotices(workspaceId, pageParam),
    initialPageParam: null as string | null,
    getNextPageParam: ({ cursor }) => cursor,
    staleTime: Number.POSITIVE_INFINITY,
    select: toldOf,
  })
}

function toldOf({ pages }: InfiniteData<NoticesPage>): Told {
  const [first] = pages
  return {
    notices: pages.flatMap(({ notices }) => notices),
    unread: first?.unread ?? 0,
    isQuiet: first?.quiet ?? false,
  }
}

export const readNoticesAgain = (queries: QueryClient, workspaceId: string) => readAgain(queries, listKey(workspaceId))

/** Marks these read, those of a conversation, or all. */
export const markNoticesRead = (workspaceId: string, which: { ids?: string[]; conversationId?: string } = {}) =>
  body(api.POST(`${path}/read`, { ...at(workspaceId), body: which }))

const settingsQuery = (workspaceId: string) =>
  queryOptions({ queryKey: settingsKey(workspaceId), queryFn: () => readSettings(workspaceId) })

export function useNoticeSettings(workspaceId: string) {
  return useQuery(settingsQuery(workspaceId))
}

/** As they are known here, or asked for once. */
export const noticeSettings = async (queries: QueryClient, workspaceId: string): Promise<NoticeSettings> =>
  (await queries.ensureQueryData(settingsQuery(workspaceId))).settings

/** What a browser subscribes with. */
export const pushKey = async (queries: QueryClient, workspaceId: string): Promise<string> =>
  (await queries.ensureQueryData(settingsQuery(workspaceId))).pushKey

export async function changeNoticeSettings(
  queries: QueryClient,
  workspaceId: string,
  settings: NoticeSettings,
): Promise<void> {
  const changed = await body(api.PUT(`${path}/settings`, { ...at(workspaceId), body: settings }))
  queries.setQueryData(settingsKey(workspaceId), changed)
}
