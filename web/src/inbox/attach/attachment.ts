import type { MediaKind, Upload, UploadLimits } from '../../data/inbox/types.ts'

/** A file to be sent: chosen, dropped, pasted or recorded. */
export interface Attachment {
  id: string
  /** Idempotency key of its message, kept across retries so that it is sent at most once. */
  key: string
  file: Blob
  kind: MediaKind
  name: string
  type: string
  /** Set for recordings. */
  seconds: number | null
  waveform: readonly number[] | null
  caption: string
  /** What the writer had seen and quoted when Send was pressed; null before. */
  submitted: SubmitContext | null
  step: Step
}

interface SubmitContext {
  /** Newest message that the writer had seen; nothing is sent if there is a newer one. */
  seenId: string | null
  quotedId: string | null
  /** Whether the writer sends it although a budget is used up. */
  isOverBudget?: boolean
}

type NewAttachmentInput = Pick<Attachment, 'file' | 'name' | 'kind' | 'type'> &
  Partial<Pick<Attachment, 'seconds' | 'waveform'>>

export const newAttachment = (input: NewAttachmentInput): Attachment => ({
  id: crypto.randomUUID(),
  key: crypto.randomUUID(),
  seconds: null,
  waveform: null,
  caption: '',
  submitted: null,
  step: { at: 'waiting' },
  ...input,
})

export type Step =
  | { at: 'waiting' }
  | { at: 'uploading'; share: number }
  | { at: 'ready'; upload: Upload }
  | { at: 'sending'; upload: Upload }
  /** `upload` is set if only the send failed. */
  | { at: 'failed'; error: unknown; upload: Upload | null }

export type Attachments = readonly Attachment[]

const captioned: readonly MediaKind[] = ['image', 'video', 'document']

export const takesCaption = (kind: MediaKind): boolean => captioned.includes(kind)

/** Returns the files that were not submitted yet. */
export const unsentAttachments = (all: Attachments): Attachments => all.filter(({ submitted }) => submitted === null)

/** Returns the file that the text in the field belongs to: the first unsent file that can have a caption. */
export const captionTarget = (all: Attachments): Attachment | null =>
  unsentAttachments(all).find(({ kind }) => takesCaption(kind)) ?? null

/** Returns the value of `accept` for the file chooser. */
export const acceptOf = ({ kinds }: Pick<UploadLimits, 'kinds'>, only?: MediaKind): string =>
  kinds
    .filter(({ kind }) => (only === undefined ? kind !== 'sticker' && kind !== 'voice' : kind === only))
    .flatMap(({ types }) => types)
    .join(',')
