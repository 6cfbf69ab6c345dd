import type { MediaKind, MediaSource } from './channel-event.ts'
import type { Connection } from './connection/connection.ts'

/** How files come from a channel's platform and go to it. Nothing of it throws. */
export interface MediaWay<C extends Connection = Connection> {
  /** The most bytes that the platform takes of each kind, and the types: `image/jpeg`. */
  limits: MediaLimits
  /** The longest caption of an image, a video or a document, in UTF-16 units. */
  maxCaptionLength: number
  /** The most bytes that are fetched, of whatever kind: customers' apps take more than businesses may send. */
  fetchBytes: number
  /**
   * Opens what the platform keeps. The bytes end early with a StreamEnded at `maxBytes`, when nothing comes for a while and
   * at the signal, and with MediaBroken when they do not open. Whoever does not read them calls it off by the signal.
   */
  open(connection: C, source: MediaSource, maxBytes: number, signal: AbortSignal): Promise<OpenedMedia>
  /**
   * Gives the platform a file, before the message that shows it. Asked again it makes another one. It may take minutes:
   * whoever does not wait calls it off by the signal.
   */
  upload(connection: C, file: FileToUpload, signal: AbortSignal): Promise<Uploaded>
}

export type MediaLimits = Record<MediaKind, { bytes: number; types: readonly string[] } | null>

export type OpenedMedia =
  | {
      outcome: 'opened'
      bytes: AsyncIterable<Uint8Array>
      /** What the platform says of it now; null what it does not say. `sha256` in base64. */
      size: number | null
      mimeType: string | null
      sha256: string | null
    }
  /** The platform has it no more. */
  | { outcome: 'gone'; errorCode: string }
  /** It says more bytes than are wanted. */
  | { outcome: 'too_large'; size: number }
  /** Asked again it would be the same: it is somewhere where nobody may go, or what was told of it makes no sense. */
  | { outcome: 'refused'; errorCode: string }
  /** `isDown`: the platform does not take our credential any more. */
  | { outcome: 'failed'; errorCode: string; isDown: boolean }

export interface FileToUpload {
  /** By which another process can open it. */
  id: string
  kind: MediaKind
  mimeType: string
  name: string | null
  size: number
  /** Of a sound or video, where it is known. */
  seconds: number | null
  /** Of a voice note: up to 64 heights of 0–100. */
  waveform: number[] | null
  bytes: () => AsyncIterable<Uint8Array>
}

/** Opens a file of ours, for whoever has only its id; null when it is not there any more. */
export type OpenOurFile = (workspaceId: string, id: string) => Promise<FileToUpload | null>

export type Uploaded =
  | { outcome: 'taken'; platformId: string; livesUntil: Date }
  | { outcome: 'refused'; errorCode: string }
  | { outcome: 'failed'; errorCode: string; isDown: boolean }

/** What came is not what was sealed by the sender: it was altered, or the key is another one's. */
export class MediaBroken extends Error {
  constructor(cause?: unknown) {
    super('The file of a message does not open with the key that came with it', { cause })
  }
}

export const takesCaption = (kind: MediaKind): boolean => kind === 'image' || kind === 'video' || kind === 'document'

const base64Digest = /^[A-Za-z0-9+/]{43}=$/
const hexDigest = /^[0-9a-f]{64}$/i

/** A SHA-256 in base64, which platforms write in that or in hex; null for what is none. */
export function readSha256(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > 64) return null
  if (base64Digest.test(value)) return value
  return hexDigest.test(value) ? Buffer.from(value, 'hex').toString('base64') : null
}

/** A type without its parameters, in lower case; null for what is none. */
export function readMimeType(value: unknown): string | null {
  if (typeof value !== 'string') return null
  const type = value.slice(0, 200).split(';')[0]?.trim().toLowerCase() ?? ''
  return /^[a-z0-9][\w.+-]{0,60}\/[a-z0-9][\w.+-]{0,80}$/.test(type) ? type : null
}
