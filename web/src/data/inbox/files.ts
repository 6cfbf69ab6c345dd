import { useInfiniteQuery } from '@tanstack/react-query'
import { readAgain } from '../../api/read-again.ts'
import { changeThread, galleriesKey, threadKey } from './cache.ts'
import { readGallery, readThread, retryFile } from './calls.ts'
import type { Inbox } from './inbox.ts'
import { mapMessages, replaceItems, type Thread } from './thread-rules.ts'
import type { GalleryItem, Media } from './types.ts'

/** Where the bytes of a file are. The session is asked for each time. */
export const fileAddress = (workspaceId: string, mediaId: string): string =>
  `/api/team/v1/workspaces/${workspaceId}/inbox/media/${mediaId}`

/** A smaller picture, where the file has one. */
export const previewAddress = (workspaceId: string, mediaId: string): string =>
  `${fileAddress(workspaceId, mediaId)}/preview`

const none: readonly GalleryItem[] = []

/** The files of a conversation, newest first, as far as they were asked for. */
export function useGallery(
  workspaceId: string,
  id: string,
  kinds: readonly Media['kind'][],
  { isWanted = true }: { isWanted?: boolean } = {},
) {
  const query = useInfiniteQuery({
    queryKey: [...galleriesKey(workspaceId, id), kinds.join()],
    queryFn: ({ pageParam }) => readGallery(workspaceId, id, kinds, pageParam),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    enabled: isWanted,
  })
  return { query, items: query.data?.pages.flatMap(({ items }) => items) ?? none }
}

/** Has a file that did not come fetched once more. */
export async function tryFileAgain(inbox: Inbox, id: string, mediaId: string): Promise<void> {
  const state = await retryFile(inbox.workspaceId, mediaId)
  hearFile(inbox, id, mediaId, state)
}

/**
 * Shows how it stands with a file. Of one that has come the size, the type and the preview are to be read first, with its
 * message, wherever in the thread that is.
 */
export function hearFile(inbox: Inbox, id: string, mediaId: string, state: Media['state']): void {
  changeThread(inbox, id, (thread) =>
    mapMessages(thread, (message) => {
      if (message.media?.id !== mediaId || message.media.state === state || state === 'here') return message
      return { ...message, media: { ...message.media, state } }
    }),
  )
  const gallery = galleriesKey(inbox.workspaceId, id)
  void readAgain(inbox.queries, gallery)
}

/** A message's file as the thread or a gallery knows it; nothing is asked for. */
export function knownFile({ queries, workspaceId }: Inbox, id: string, messageId: string): GalleryItem | null {
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

const around = 10

/** Reads a message of the thread again, if it is known there. */
export async function readMessageAgain(inbox: Inbox, id: string, messageId: string): Promise<void> {
  const { queries, workspaceId } = inbox
  const known = queries.getQueryData<Thread>(threadKey(workspaceId, id))?.items ?? []
  if (!known.some((item) => item.id === messageId)) return
  const page = await readThread(workspaceId, id, { aroundMessage: messageId, limit: around })
  changeThread(inbox, id, (thread) =>
    replaceItems(
      thread,
      page.items.filter((item) => item.id === messageId),
    ),
  )
}
