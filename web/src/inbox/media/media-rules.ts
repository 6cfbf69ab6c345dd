import type { GalleryItem, Media, TimelineItem } from '../../data/inbox/types.ts'

export interface Size {
  width: number
  height: number
}

const [maxSize, minSize] = [
  { width: 320, height: 360 },
  { width: 140, height: 90 },
]
const unknown: Size = { width: 240, height: 180 }
const stickerPx = 160

/**
 * Returns the size of an image or video in its bubble, known before it has loaded. Very long or wide images are
 * cropped; nothing is enlarged, except images too small to click.
 */
export function sizeInBubble({ kind, width, height }: Pick<Media, 'kind' | 'width' | 'height'>): Size {
  if (kind === 'sticker') return { width: stickerPx, height: stickerPx }
  if (width === null || height === null) return unknown
  const scale = Math.min(maxSize.width / width, maxSize.height / height, 1)
  return {
    width: Math.round(Math.max(minSize.width, width * scale)),
    height: Math.round(Math.max(minSize.height, height * scale)),
  }
}

/** Returns a data URL for the placeholder; null if invalid. Recognizes JPEG and WebP by the start of the base64. */
export function placeholderAddress(placeholder: string | null): string | null {
  if (placeholder === null || !/^[A-Za-z0-9+/]{16,8192}={0,2}$/.test(placeholder)) return null
  if (placeholder.startsWith('/9j/')) return `data:image/jpeg;base64,${placeholder}`
  return placeholder.startsWith('UklGR') ? `data:image/webp;base64,${placeholder}` : null
}

/** How a file is shown. Types that browsers must not show or cannot play are downloads. */
export type MediaView = 'picture' | 'video' | 'sound' | 'file'

export function mediaViewOf({ kind, type, isInline }: Media, canPlay: (type: string) => boolean): MediaView {
  if (!isInline || type === null) return 'file'
  const [family] = type.split('/')
  if (family === 'image') return 'picture'
  if (family === 'video') return kind === 'audio' || kind === 'voice' ? audioOrFile(type, canPlay) : 'video'
  return family === 'audio' ? audioOrFile(type, canPlay) : 'file'
}

const audioOrFile = (type: string, canPlay: (type: string) => boolean): MediaView => (canPlay(type) ? 'sound' : 'file')

/** Returns whether a size is reserved, by the kind of a file that has not loaded. */
export const hasReservedSize = ({ kind }: Pick<Media, 'kind'>): boolean =>
  kind === 'image' || kind === 'video' || kind === 'sticker'

export const isPdf = ({ type, isInline }: Media): boolean => isInline && type === 'application/pdf'

/** Resamples to exactly `count` bars of 0–100; each is the maximum of its range. */
export function barsOf(waveform: readonly number[] | null, count: number): number[] {
  if (waveform === null || waveform.length === 0) return []
  return Array.from({ length: count }, (_, n) => {
    const from = Math.floor((n * waveform.length) / count)
    const to = Math.max(from + 1, Math.floor(((n + 1) * waveform.length) / count))
    return Math.max(...waveform.slice(from, to))
  })
}

export const speeds = [1, 1.5, 2] as const
export type Speed = (typeof speeds)[number]

export const speedAfter = (speed: Speed): Speed => speeds[(speeds.indexOf(speed) + 1) % speeds.length] ?? 1

/** Returns the file extension as a label, such as `PDF`; null if it says nothing. */
export const extensionOf = (name: string | null): string | null =>
  /\.([A-Za-z0-9]{1,5})$/.exec(name ?? '')?.[1]?.toUpperCase() ?? null

const map = 'https://www.openstreetmap.org/'

/** Returns the link to a map; nothing is loaded before it is followed. */
export function mapAddress(latitude: number, longitude: number): string {
  const at = [latitude, longitude].map((one) => one.toFixed(6))
  return `${map}?mlat=${at[0]}&mlon=${at[1]}#map=16/${at[0]}/${at[1]}`
}

export function coordinates(latitude: number, longitude: number): string {
  const format = (degrees: number, [positive, negative]: readonly [string, string]) =>
    `${Math.abs(degrees).toFixed(5)}° ${degrees < 0 ? negative : positive}`
  return `${format(latitude, ['N', 'S'])}, ${format(longitude, ['E', 'W'])}`
}

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
