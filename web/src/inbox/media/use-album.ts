import { useEffect, useMemo, useState } from 'react'
import { fileAddress } from '../../data/inbox/files.ts'
import { cachedFile, useGallery } from '../../data/inbox/gallery.ts'
import { useCachedThread, useInbox } from '../../data/inbox/queries.ts'
import { type AlbumItem, albumKinds, albumOf } from './album.ts'

export interface Album {
  /** Current file; null if it no longer exists. */
  item: AlbumItem | null
  /** Position among the known items; null if there are no others. */
  place: { n: number; of: number } | null
  go(step: -1 | 1): void
}

// Older items are loaded from the second item on, so that navigation does not end early.
const nearStart = 2

/** Images and videos of the conversation by time, from the opened one; loads older ones during navigation. */
export function useAlbum(conversationId: string, openedId: string): Album {
  const inbox = useInbox()
  const { workspaceId } = inbox
  const [shownId, setShownId] = useState(openedId)
  const items = useCachedThread(workspaceId, conversationId)?.items
  const { query, items: gallery } = useGallery(workspaceId, conversationId, albumKinds)
  const leaves = useMemo(() => albumOf(items ?? [], gallery), [items, gallery])
  const n = leaves.findIndex(({ messageId }) => messageId === shownId)
  const { hasNextPage, isFetchingNextPage, isError, fetchNextPage } = query
  const oldestRead = gallery.at(-1)?.at ?? ''
  const shownAt = leaves[n]?.at ?? ''
  const wantsMore = n !== -1 && (n < nearStart || shownAt <= oldestRead)
  useEffect(() => {
    if (wantsMore && hasNextPage && !isFetchingNextPage && !isError) void fetchNextPage()
  }, [wantsMore, hasNextPage, isFetchingNextPage, isError, fetchNextPage])
  useEffect(() => {
    for (const one of [leaves[n - 1], leaves[n + 1]]) {
      if (one?.media.kind === 'image') new Image().src = fileAddress(workspaceId, one.media.id)
    }
  }, [leaves, n, workspaceId])
  return {
    // Documents, and files not loaded yet, are in no album.
    item: leaves[n] ?? cachedFile(inbox, conversationId, shownId),
    place: n === -1 ? null : { n: n + 1, of: leaves.length },
    go: (step) => {
      const next = n === -1 ? undefined : leaves[n + step]
      if (next !== undefined) setShownId(next.messageId)
    },
  }
}
