import { keepPreviousData, type UseQueryResult, useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useIsLiveReady } from '../../api/live.ts'
import { currentUser } from '../../session/session.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { cachedConversation, countsKey, type Detail, detailKey, listKey, threadKey } from './cache.ts'
import { listPage, readConversation, readCounts, readThread, type ThreadPage } from './calls.ts'
import type { Inbox } from './inbox.ts'
import { appendPage, type ConversationList, emptyList, reuseRows } from './list-rules.ts'
import { currentSequence, listWithLiveChanges, withLiveChanges, withLiveStatus } from './live-changes.ts'
import { appendNewer, mapMessages, mergeNewest, prependOlder, type Thread } from './thread-rules.ts'
import type { ConversationFilter } from './types.ts'

// The live stream keeps these fresh: they are loaded once, and again after a break of the stream.
const fresh = { staleTime: Number.POSITIVE_INFINITY }
const newest = 50
const maxRefetched = 1000

/** Returns the inbox of the workspace in the address, for `actions.ts`. */
export function useInbox(): Inbox {
  const workspaceId = useWorkspaceId()
  const queries = useQueryClient()
  return useMemo(() => ({ queries, workspaceId }), [queries, workspaceId])
}

export interface ConversationPages {
  query: UseQueryResult<ConversationList>
  rows: ConversationList['rows']
  /** Cursor of the next page; null if there is none. */
  cursor: string | null
  /** Loads the next page; does nothing while one is loading. */
  more(): Promise<void>
}

/** Returns the rows of a list as far as they were scrolled. Those of the previous filter stay until loaded. */
export function useConversationPages(workspaceId: string, filter: ConversationFilter): ConversationPages {
  const queries = useQueryClient()
  const inbox = { queries, workspaceId }
  const queryKey = listKey(workspaceId, filter)
  const query = useQuery({
    queryKey,
    queryFn: async () => {
      const requestedAt = currentSequence()
      const known = queries.getQueryData<ConversationList>(queryKey)?.rows.length ?? 0
      return listWithLiveChanges(
        inbox,
        await readRows(workspaceId, filter, Math.min(known, maxRefetched)),
        requestedAt,
        filter,
        currentUser().id,
      )
    },
    placeholderData: keepPreviousData,
    structuralSharing: (before, list) => reuseRows(before as ConversationList | undefined, list as ConversationList),
    ...fresh,
  })
  const { rows, cursor } = query.data ?? emptyList
  const more = async () => {
    const list = queries.getQueryData<ConversationList>(queryKey)
    if (list === undefined || list.cursor === null) return
    const requestedAt = currentSequence()
    const page = await queries.fetchQuery({
      queryKey: [workspaceId, 'inbox', 'page', filter, list.cursor],
      queryFn: () => listPage(workspaceId, filter, list.cursor),
      gcTime: 0,
    })
    queries.setQueryData<ConversationList>(queryKey, (now) => {
      const isSameEnd = now?.cursor === list.cursor
      return now && isSameEnd
        ? listWithLiveChanges(inbox, appendPage(now, page), requestedAt, filter, currentUser().id)
        : now
    })
  }
  return { query, rows, cursor: query.isPlaceholderData ? null : cursor, more }
}

/** Loads at least `count` rows, so that a refetch keeps the scroll position. */
async function readRows(workspaceId: string, filter: ConversationFilter, count: number): Promise<ConversationList> {
  let list = await listPage(workspaceId, filter, null)
  while (list.cursor !== null && list.rows.length < count) {
    list = appendPage(list, await listPage(workspaceId, filter, list.cursor))
  }
  return list
}

/** Returns the cached rows of a list. */
export function rowsOf({ queries, workspaceId }: Inbox, filter: ConversationFilter): ConversationList['rows'] {
  return (queries.getQueryData<ConversationList>(listKey(workspaceId, filter)) ?? emptyList).rows
}

/** Returns a conversation with its lead and notes: from a list at once, then from the server. */
export function useDetail(workspaceId: string, id: string): UseQueryResult<Detail> {
  const queries = useQueryClient()
  return useQuery<Detail>({
    queryKey: detailKey(workspaceId, id),
    queryFn: async () => {
      const requestedAt = currentSequence()
      const detail = await readConversation(workspaceId, id)
      return { ...detail, conversation: withLiveChanges({ queries, workspaceId }, detail.conversation, requestedAt) }
    },
    initialData: () => {
      const conversation = cachedConversation({ queries, workspaceId }, id)
      return conversation && { conversation, notes: null, lead: null, firstContactAt: null, referral: null }
    },
    initialDataUpdatedAt: 0,
    // Data from a list may be newer than this query, but is incomplete.
    staleTime: ({ state }) => (state.data?.notes == null ? 0 : fresh.staleTime),
  })
}

export interface ThreadPages {
  query: UseQueryResult<Thread>
  older(): Promise<void>
  newer(): Promise<void>
  /** Replaces the thread with its newest page, unless it is loaded to its end. */
  toEnd(): Promise<void>
  /** Replaces the thread with the page around a message, unless that is loaded. */
  toMessage(messageId: string): Promise<void>
}

/** Returns the thread from the cache, then refetched from its newest or first unread message. */
export function useThread(workspaceId: string, id: string): ThreadPages {
  const queries = useQueryClient()
  const inbox = { queries, workspaceId }
  const queryKey = threadKey(workspaceId, id)
  const query = useQuery({
    queryKey,
    queryFn: () => fetchNewestThread(inbox, id),
    ...fresh,
    refetchOnMount: 'always',
  })
  const go = async (side: 'older' | 'newer') => {
    const place = queries.getQueryData<Thread>(queryKey)?.[side] ?? null
    if (place === null) return
    const requestedAt = side === 'older' ? { before: place } : { after: place }
    const page = await queries.fetchQuery({
      queryKey: [workspaceId, 'inbox', 'thread page', id, side, place],
      queryFn: () => readPage(inbox, id, requestedAt),
      gcTime: 0,
    })
    queries.setQueryData<Thread>(queryKey, (now) => {
      if (now?.[side] !== place) return now
      return side === 'older' ? prependOlder(now, page) : appendNewer(now, page)
    })
  }
  const toEnd = async () => {
    if (queries.getQueryData<Thread>(queryKey)?.newer === null) return
    const page = await readPage(inbox, id, { limit: newest })
    queries.setQueryData<Thread>(queryKey, (now) => (now?.newer === null ? now : page))
  }
  const toMessage = async (messageId: string) => {
    const known = queries.getQueryData<Thread>(queryKey)?.items ?? []
    if (known.some((item) => item.id === messageId)) return
    queries.setQueryData<Thread>(queryKey, await readPage(inbox, id, { aroundMessage: messageId }))
  }
  return { query, older: () => go('older'), newer: () => go('newer'), toEnd, toMessage }
}

/** Returns the thread from the cache; makes no request. */
export function useCachedThread(workspaceId: string, id: string): Thread | undefined {
  return useQuery<Thread>({
    queryKey: threadKey(workspaceId, id),
    enabled: false,
    ...fresh,
  }).data
}

/** Loads a thread that is likely to be opened next, unless it is cached. */
export function prefetchThread(inbox: Inbox, id: string): void {
  const queryKey = threadKey(inbox.workspaceId, id)
  void inbox.queries.prefetchQuery({ queryKey, queryFn: () => fetchNewestThread(inbox, id), ...fresh })
}

/** Loads messages around the first unread one if nothing is cached; otherwise the newest, merged into the cache. */
export async function fetchNewestThread(inbox: Inbox, id: string): Promise<Thread> {
  const { queries, workspaceId } = inbox
  const key = threadKey(workspaceId, id)
  const isKnown = queries.getQueryData<Thread>(key) !== undefined
  const page = await readPage(inbox, id, isKnown ? { limit: newest } : { around: 'unread' })
  return mergeNewest(queries.getQueryData<Thread>(key), page)
}

async function readPage(inbox: Inbox, id: string, requestedAt: ThreadPage): Promise<Thread> {
  const page = await readThread(inbox.workspaceId, id, requestedAt)
  return mapMessages(page, (message) => withLiveStatus(inbox, message))
}

/** Returns the counts, loaded once the stream is open: earlier changes would not be announced. */
export function useCounts(workspaceId: string) {
  const enabled = useIsLiveReady()
  return useQuery({ queryKey: countsKey(workspaceId), queryFn: () => readCounts(workspaceId), enabled, ...fresh })
}
