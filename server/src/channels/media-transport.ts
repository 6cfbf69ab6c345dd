import type { MediaKind, MediaSource } from './channel-event.ts'
import type { Connection } from './connection/connection.ts'

/** Downloads files from a channel's platform and uploads files to it. No method throws. */
export interface MediaTransport<C extends Connection = Connection> {
  /** Maximum size and allowed MIME types (`image/jpeg`) of each kind. */
  limits: MediaLimits
  /** Maximum length of the caption of an image, video or document, in UTF-16 units. */
  maxCaptionLength: number
  /** Maximum download size of any kind: customers' apps allow larger files than businesses may send. */
  maxDownloadBytes: number
  /**
   * Opens a file stored by the platform. `bytes` throws StreamEnded at `maxBytes`, after a period of silence or on
   * abort, and MediaDecryptionError if decryption fails. A caller that does not read `bytes` must abort the signal.
   */
  open(connection: C, source: MediaSource, maxBytes: number, signal: AbortSignal): Promise<OpenedMedia>
  /** Uploads a file before its message; each call uploads again. May take minutes: abort the signal to stop. */
  upload(connection: C, file: FileToUpload, signal: AbortSignal): Promise<UploadResult>
}

export type MediaLimits = Record<MediaKind, { bytes: number; types: readonly string[] } | null>

export type OpenedMedia =
  | {
      outcome: 'opened'
      bytes: AsyncIterable<Uint8Array>
      /** As the platform reports it now; null if it does not. `sha256` in base64. */
      size: number | null
      mimeType: string | null
      sha256: string | null
    }
  /** The platform no longer has the file. */
  | { outcome: 'gone'; errorCode: string }
  /** The reported size exceeds `maxBytes`. */
  | { outcome: 'too_large'; size: number }
  /** A retry would fail too: the address is not allowed, or the source is invalid. */
  | { outcome: 'refused'; errorCode: string }
  /** `isDown`: the platform no longer accepts our credentials. */
  | { outcome: 'failed'; errorCode: string; isDown: boolean }

export interface FileToUpload {
  /** Id with which another process can open the file. */
  id: string
  kind: MediaKind
  mimeType: string
  name: string | null
  size: number
  /** Duration of audio or video, if known. */
  seconds: number | null
  /** Waveform of a voice note: up to 64 values of 0–100. */
  waveform: number[] | null
  bytes: () => AsyncIterable<Uint8Array>
}

/** Opens one of our files by its id; null if it no longer exists. */
export type OpenStoredFile = (workspaceId: string, id: string) => Promise<FileToUpload | null>

export type UploadResult =
  | { outcome: 'taken'; platformId: string; livesUntil: Date }
  | { outcome: 'refused'; errorCode: string }
  | { outcome: 'failed'; errorCode: string; isDown: boolean }

/** The file was altered after the sender encrypted it, or the key belongs to another file. */
export class MediaDecryptionError extends Error {
  constructor(cause?: unknown) {
    super('The file of a message cannot be decrypted with the key in the message', { cause })
  }
}

export const supportsCaption = (kind: MediaKind): boolean => kind === 'image' || kind === 'video' || kind === 'document'

const base64Digest = /^[A-Za-z0-9+/]{43}=$/
const hexDigest = /^[0-9a-f]{64}$/i

/** Returns a SHA-256 digest in base64, from base64 or hex; null if invalid. */
export function parseSha256(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > 64) return null
  if (base64Digest.test(value)) return value
  return hexDigest.test(value) ? Buffer.from(value, 'hex').toString('base64') : null
}

/** Returns a MIME type in lower case without parameters; null if invalid. */
export function parseMimeType(value: unknown): string | null {
  if (typeof value !== 'string') return null
  const type = value.slice(0, 200).split(';')[0]?.trim().toLowerCase() ?? ''
  return /^[a-z0-9][\w.+-]{0,60}\/[a-z0-9][\w.+-]{0,80}$/.test(type) ? type : null
}
