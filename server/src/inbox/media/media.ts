import type { MediaKind, MediaTold } from '../../channels/channel-event.ts'
import type { Actor } from '../../workspace/actor.ts'
import type { Direction } from '../conversation/message.ts'

/** `coming`: a worker is to fetch it. `gone`: the platform has it no more. `refused`: not what was told, or not allowed. */
export type MediaState = 'coming' | 'here' | 'too_large' | 'gone' | 'refused' | 'failed'

/** A file that a message carries, or an upload that no send has taken yet. */
export interface Media {
  id: string
  conversationId: string
  connectionId: string
  messageId: string | null
  direction: Direction
  kind: MediaKind
  state: MediaState
  details: MediaDetails
  file: { key: Buffer; storedAs: string; bytes: number } | null
  preview: { key: Buffer; storedAs: string; bytes: number } | null
  /** The platform's id of an upload, while it lives. */
  platform: { id: string; livesUntil: Date } | null
  failure: string | null
  createdBy: Actor | null
  createdAt: Date
  updatedAt: Date
}

/** Sealed as one value. */
export interface MediaDetails extends Partial<Omit<MediaTold, 'kind'>> {
  /** As the bytes say, not as was told; null until it is here. */
  realType: string | null
}
