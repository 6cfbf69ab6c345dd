import { useInfiniteQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { inboxKey } from './cache.ts'
import { searchMessages } from './calls.ts'
import type { MessageSearchResult } from './types.ts'

const none: readonly MessageSearchResult[] = []
/** A page may have none of what is rare: so many are wanted, and so many times it is looked further back for them. */
const [minResults, maxPages] = [10, 8]

/** The messages that say something, newest first, as far as they were looked for. */
export function useMessageSearch(workspaceId: string, search: string) {
  const query = useInfiniteQuery({
    queryKey: [...inboxKey(workspaceId), 'found', search],
    queryFn: ({ pageParam, signal }) => searchMessages(workspaceId, search, pageParam, signal),
    initialPageParam: '',
    getNextPageParam: ({ cursor }) => cursor,
    // What is said meanwhile is found when it is looked for again.
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
