import type { GalleryItem, Media, TimelineItem } from '../../data/inbox/types.ts'

/** An image or video of the album. */
export type AlbumItem = Pick<GalleryItem, 'messageId' | 'at' | 'direction' | 'media'>

export const albumKinds = ['image', 'video'] as const

const isInAlbum = ({ kind, state, isInline }: Media): boolean =>
  state === 'here' && isInline && (albumKinds as readonly string[]).includes(kind)

/** Images and videos of a conversation from the thread and the gallery, without duplicates, oldest first. */
export function albumOf(items: readonly TimelineItem[], gallery: readonly GalleryItem[]): AlbumItem[] {
  const byMessage = new Map<string, AlbumItem>()
  for (const item of gallery) if (isInAlbum(item.media)) byMessage.set(item.messageId, item)
  for (const { id, at, message } of items) {
    if (message?.media == null || message.withdrawnAt !== null || !isInAlbum(message.media)) continue
    byMessage.set(id, { messageId: id, at, direction: message.direction, media: message.media })
  }
  return [...byMessage.values()].sort((a, b) => compare(a.at, b.at) || compare(a.messageId, b.messageId))
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
