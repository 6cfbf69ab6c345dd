import { useEffect, useMemo, useState } from 'react'
import { fileAddress } from '../../data/inbox/files.ts'
import { knownFile, useGallery } from '../../data/inbox/gallery.ts'
import { useCachedThread, useInbox } from '../../data/inbox/queries.ts'
import { type AlbumItem, albumKinds, albumOf } from './album.ts'

export interface Album {
  /** What is shown; null when it is no longer there. */
  item: AlbumItem | null
  /** Which of how many that are known it is; null when it stands alone. */
  place: { n: number; of: number } | null
  go(step: -1 | 1): void
}

// From the second on more are read, so that one does not come to a false end.
const nearStart = 2

/** The conversation's pictures and videos in the order of time, from the one that was opened; older ones are read as one goes. */
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
    // A document is in no album, and so is what has come too lately.
    item: leaves[n] ?? knownFile(inbox, conversationId, shownId),
    place: n === -1 ? null : { n: n + 1, of: leaves.length },
    go: (step) => {
      const next = n === -1 ? undefined : leaves[n + step]
      if (next !== undefined) setShownId(next.messageId)
    },
  }
}
