import { useInfiniteQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { api } from '../../api/client.ts'
import { pagedBy } from '../../api/paged-by.ts'
import { inboxKey } from './cache.ts'
import type { MessageSearchResult } from './types.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/inbox/messages'
const pageSize = 20
const none: readonly MessageSearchResult[] = []
/** A page may contain no result for a rare word: loads up to 8 pages to get 10 results. */
const [minResults, maxPages] = [10, 8]

/** Returns the messages that contain the text, newest first, page by page. */
export function useMessageSearch(workspaceId: string, search: string) {
  const query = useInfiniteQuery({
    queryKey: [...inboxKey(workspaceId), 'found', search],
    queryFn: ({ pageParam: cursor, signal }) =>
      api.GET(path, { workspaceId, query: { search, limit: pageSize, cursor }, signal }),
    ...pagedBy('cursor'),
    // New messages are found by the next search.
    refetchOnWindowFocus: false,
  })
  const { data, hasNextPage, isFetching, isError, fetchNextPage } = query
  const messages = data?.pages.flatMap((page) => page.messages) ?? none
  const pageCount = data?.pages.length ?? 0
  const isShort = messages.length < minResults && pageCount > 0 && pageCount < maxPages
  useEffect(() => {
    if (isShort && hasNextPage && !isFetching && !isError) void fetchNextPage()
  }, [isShort, hasNextPage, isFetching, isError, fetchNextPage])
  return { query, messages, lookedTo: data?.pages.at(-1)?.lookedTo ?? null }
}
