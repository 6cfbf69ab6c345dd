import type { Connection } from './connection/connection.ts'
import type { MediaKind, MediaSource } from './message-detail.ts'

/** How files come from a channel's platform and go to it. Nothing of it throws. */
export interface MediaWay<C extends Connection = Connection> {
  /** The most bytes that the platform takes of each kind, and the types: `image/jpeg`. */
  limits: Record<MediaKind, { bytes: number; types: readonly string[] } | null>
  /** Opens what the platform keeps. `stream` ends early, with an error, at `maxBytes` and when nothing comes for a while. */
  open(connection: C, source: MediaSource, maxBytes: number, signal: AbortSignal): Promise<OpenedMedia>
  /** Gives the platform a file, before the message that shows it. Asked again it makes another one. */
  upload(connection: C, file: FileToUpload, signal: AbortSignal): Promise<Uploaded>
}

export type OpenedMedia =
  | { outcome: 'opened'; bytes: AsyncIterable<Uint8Array>; size: number | null; mimeType: string | null }
  /** The platform has it no more. */
  | { outcome: 'gone'; errorCode: string }
  /** It says more bytes than are wanted. */
  | { outcome: 'too_large'; size: number }
  /** `isDown`: the platform does not take our credential any more. */
  | { outcome: 'failed'; errorCode: string; isDown: boolean }

export interface FileToUpload {
  kind: MediaKind
  mimeType: string
  name: string | null
  size: number
  bytes: () => AsyncIterable<Uint8Array>
}

export type Uploaded =
  | { outcome: 'taken'; platformId: string; livesUntil: Date }
  | { outcome: 'refused'; errorCode: string }
  | { outcome: 'failed'; errorCode: string; isDown: boolean }
