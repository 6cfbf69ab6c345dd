import type { MediaKind, Upload, UploadLimits } from '../../data/inbox/types.ts'

/** A file that is to be sent: chosen, dropped, pasted or recorded. */
export interface Attachment {
  id: string
  /** The Idempotency-Key of its message, for all of its life: however often it is tried, it is sent at most once. */
  key: string
  file: Blob
  kind: MediaKind
  name: string
  type: string
  /** Of a recording. */
  seconds: number | null
  waveform: readonly number[] | null
  caption: string
  /** What its writer had seen and answered when Send was pressed; null before. */
  submitted: SubmitContext | null
  step: Step
}

export interface SubmitContext {
  /** The newest message that the writer had seen; nothing is sent when somebody has written since. */
  seenId: string | null
  quotedId: string | null
}

export type Step =
  | { at: 'waiting' }
  | { at: 'uploading'; share: number }
  | { at: 'ready'; upload: Upload }
  | { at: 'sending'; upload: Upload }
  /** `upload` is there when only the send failed. */
  | { at: 'failed'; error: unknown; upload: Upload | null }

export type Attachments = readonly Attachment[]

const captioned: readonly MediaKind[] = ['image', 'video', 'document']

export const takesCaption = (kind: MediaKind): boolean => captioned.includes(kind)

/** Those still to be let go. */
export const unsentAttachments = (all: Attachments): Attachments => all.filter(({ submitted }) => submitted === null)

/** The file that the text in the field goes with: the first to be let go that takes a caption. */
export const leadingText = (all: Attachments): Attachment | null =>
  unsentAttachments(all).find(({ kind }) => takesCaption(kind)) ?? null

/** For the browser's own window that chooses files. */
export const acceptOf = ({ kinds }: Pick<UploadLimits, 'kinds'>, only?: MediaKind): string =>
  kinds
    .filter(({ kind }) => (only === undefined ? kind !== 'sticker' && kind !== 'voice' : kind === only))
    .flatMap(({ types }) => types)
    .join(',')
