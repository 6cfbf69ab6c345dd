import { useInfiniteQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { pagedBy } from '../../api/paged-by.ts'
import { galleriesKey, threadKey } from './cache.ts'
import type { Inbox } from './inbox.ts'
import type { Thread } from './thread-rules.ts'
import type { GalleryItem, Media } from './types.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/inbox/conversations/{id}/media'
const pageSize = 30
const none: readonly GalleryItem[] = []

/** Returns the files of a conversation, newest first, page by page. */
export function useGallery(
  workspaceId: string,
  id: string,
  kinds: readonly Media['kind'][],
  { isWanted = true }: { isWanted?: boolean } = {},
) {
  const query = useInfiniteQuery({
    queryKey: [...galleriesKey(workspaceId, id), kinds.join()],
    queryFn: ({ pageParam: cursor }) =>
      api.GET(path, { workspaceId, id, query: { kinds: kinds.join(','), limit: pageSize, cursor } }),
    ...pagedBy('next'),
    enabled: isWanted,
  })
  return { query, items: query.data?.pages.flatMap(({ items }) => items) ?? none }
}

/** Returns the file of a message from the cache of the thread or a gallery. */
export function cachedFile({ queries, workspaceId }: Inbox, id: string, messageId: string): GalleryItem | null {
  const items = queries.getQueryData<Thread>(threadKey(workspaceId, id))?.items ?? []
  const item = items.find((one) => one.id === messageId)
  if (item?.message?.media != null) {
    return { messageId, at: item.at, direction: item.message.direction, media: item.message.media }
  }
  const galleries = queries.getQueriesData<{ pages: { items: GalleryItem[] }[] }>({
    queryKey: galleriesKey(workspaceId, id),
  })
  for (const [, data] of galleries) {
    const found = data?.pages.flatMap((page) => page.items).find((one) => one.messageId === messageId)
    if (found !== undefined) return found
  }
  return null
}
