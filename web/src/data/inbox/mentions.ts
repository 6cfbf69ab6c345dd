import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { useIsLiveReady } from '../../api/live.ts'
import { pagedBy } from '../../api/paged-by.ts'
import { mentionsKey, unreadMentionsKey } from './cache.ts'
import type { Inbox } from './inbox.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/inbox/mentions'
const pageSize = 20

/** Returns the number of unread notes that mention me. Loaded once the stream is open, which keeps it fresh. */
export function useUnreadMentions(workspaceId: string): number {
  const enabled = useIsLiveReady()
  const queryFn = async () => (await api.GET(path, { workspaceId, query: { limit: 1, unread: true } })).unread
  const queryKey = unreadMentionsKey(workspaceId)
  return useQuery({ queryKey, queryFn, enabled, staleTime: Number.POSITIVE_INFINITY }).data ?? 0
}

/** Returns the notes that mention me, newest first, page by page. */
export function useMentions(workspaceId: string) {
  return useInfiniteQuery({
    queryKey: mentionsKey(workspaceId),
    queryFn: ({ pageParam: cursor }) => api.GET(path, { workspaceId, query: { limit: pageSize, cursor } }),
    ...pagedBy('cursor'),
    // Refetched each time they are opened.
    staleTime: 0,
  })
}

export function setUnreadMentions({ queries, workspaceId }: Inbox, unread: number): void {
  queries.setQueryData(unreadMentionsKey(workspaceId), unread)
  void queries.invalidateQueries({ queryKey: mentionsKey(workspaceId) })
}

/** Marks the mentions in a conversation, or all, as read. */
export async function markMentionsReadIn(inbox: Inbox, conversationId: string | null): Promise<void> {
  const body = conversationId === null ? {} : { conversationId }
  const { unread } = await api.POST(`${path}/read`, { workspaceId: inbox.workspaceId, body })
  setUnreadMentions(inbox, unread)
}
