import type { FileKind } from '../files/shown-file.ts'

const megabyte = 1024 * 1024

interface Accepted {
  types: readonly string[]
  bytes: number
}

const images: Accepted = { types: ['image/jpeg', 'image/png'], bytes: 5 * megabyte }
const stickers: Accepted = { types: ['image/webp'], bytes: 500 * 1024 }
const videos: Accepted = { types: ['video/mp4', 'video/3gpp'], bytes: 16 * megabyte }
const sounds: Accepted = {
  types: ['audio/aac', 'audio/mp4', 'audio/mpeg', 'audio/amr', 'audio/ogg', 'audio/opus'],
  bytes: 16 * megabyte,
}
const documents: Accepted = {
  types: [
    'application/vnd.ms-powerpoint',
    'application/msword',
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    'application/vnd.openxmlformats-officedocument.presentationml.presentation',
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    'application/pdf',
    'text/plain',
    'application/vnd.ms-excel',
  ],
  bytes: 100 * megabyte,
}

const all = [sounds, documents, images, stickers, videos]

/** Every type that the platform takes, in the order in which it names them. */
export const takenTypes: readonly string[] = all.flatMap(({ types }) => types)

/** The most that the platform takes of anything. */
export const mostBytes = documents.bytes

/** Without its parameters. */
export const bareType = (mimeType: string): string => mimeType.split(';', 1)[0]?.trim().toLowerCase() ?? ''

/** The most bytes of a type; null when the platform does not take it. */
export const bytesAllowed = (mimeType: string): number | null =>
  all.find(({ types }) => types.includes(bareType(mimeType)))?.bytes ?? null

const sendable: Record<FileKind, readonly string[] | null> = {
  image: images.types,
  sticker: stickers.types,
  video: videos.types,
  audio: sounds.types,
  voice: ['audio/ogg', 'audio/opus'],
  // Whatever it took is a document if one says so.
  document: null,
}

/** Whether a file of this type goes as a message of this kind. */
export const mayGoAs = (kind: FileKind, mimeType: string): boolean =>
  sendable[kind]?.includes(bareType(mimeType)) ?? true
