import type { Upload } from '../../data/inbox/types.ts'
import { type Attachment, type Attachments, captionTarget, type Step, unsentAttachments } from './attachment.ts'

export type Change =
  | { type: 'added'; attachments: Attachments }
  | { type: 'uploadBegan'; id: string }
  | { type: 'progressed'; id: string; share: number }
  | { type: 'uploaded'; id: string; upload: Upload }
  /** Send was pressed: the text becomes the caption of its file, the quote belongs to the first file. */
  | { type: 'submitted'; text: string; seenId: string | null; quotedId: string | null }
  /** The writer has seen newer messages, or that a budget is used up, and still wants to send the files. */
  | { type: 'confirmed'; seenId: string | null; isOverBudget: boolean }
  | { type: 'sendBegan'; id: string }
  | { type: 'accepted'; id: string }
  | { type: 'failed'; id: string; error: unknown }
  | { type: 'retried'; id: string; nowMs: number }
  | { type: 'cancelled'; id: string }
  | { type: 'moved'; id: string; by: -1 | 1 }
  | { type: 'captioned'; id: string; caption: string }

/** Applies a change to the files of a conversation. Changes that do not fit the state of a file are ignored. */
export function reduceAttachments(all: Attachments, change: Change): Attachments {
  switch (change.type) {
    case 'added':
      return [...all, ...change.attachments]
    case 'submitted':
      return submitAll(all, change)
    case 'confirmed': {
      const { seenId, isOverBudget } = change
      return all.map((one) =>
        one.submitted === null ? one : { ...one, submitted: { ...one.submitted, seenId, isOverBudget } },
      )
    }
    case 'accepted':
      return all.filter(({ id, step }) => id !== change.id || step.at !== 'sending')
    case 'cancelled':
      // A message that is being sent cannot be canceled.
      return all.filter(({ id, step }) => id !== change.id || step.at === 'sending')
    case 'moved':
      return swapNeighbors(all, change.id, change.by)
    case 'captioned':
      return all.map((one) =>
        one.id === change.id && one.submitted === null ? { ...one, caption: change.caption } : one,
      )
    default:
      return all.map((one) => {
        const step = one.id === change.id ? nextStep(one.step, change) : one.step
        return step === one.step ? one : { ...one, step }
      })
  }
}

function submitAll(all: Attachments, { text, seenId, quotedId }: Extract<Change, { type: 'submitted' }>): Attachments {
  const [lead, [first]] = [captionTarget(all), unsentAttachments(all)]
  return all.map((one) => {
    if (one.submitted !== null) return one
    const caption = one.id === lead?.id ? text : one.caption
    return { ...one, caption: caption.trim(), submitted: { seenId, quotedId: one.id === first?.id ? quotedId : null } }
  })
}

type StepChange = Extract<
  Change,
  { type: 'uploadBegan' | 'progressed' | 'uploaded' | 'sendBegan' | 'failed' | 'retried' }
>

function nextStep(step: Step, change: StepChange): Step {
  switch (change.type) {
    case 'uploadBegan':
      return step.at === 'waiting' ? { at: 'uploading', share: 0 } : step
    case 'progressed':
      return step.at === 'uploading' ? { at: 'uploading', share: change.share } : step
    case 'uploaded':
      return step.at === 'uploading' ? { at: 'ready', upload: change.upload } : step
    case 'sendBegan':
      return step.at === 'ready' ? { at: 'sending', upload: step.upload } : step
    case 'failed':
      if (step.at === 'uploading') return { at: 'failed', error: change.error, upload: null }
      return step.at === 'sending' ? { at: 'failed', error: change.error, upload: step.upload } : step
    case 'retried': {
      if (step.at !== 'failed') return step
      // The server deletes unsent uploads after a while.
      const isUploaded = step.upload !== null && Date.parse(step.upload.expiresAt) > change.nowMs
      return isUploaded && step.upload !== null ? { at: 'ready', upload: step.upload } : { at: 'waiting' }
    }
    default:
      return change satisfies never
  }
}

// Submitted files are in front and keep their order.
function swapNeighbors(all: Attachments, id: string, by: -1 | 1): Attachments {
  const from = all.findIndex((one) => one.id === id)
  const [one, other] = [all[from], all[from + by]]
  if (one === undefined || other === undefined || one.submitted !== null || other.submitted !== null) return all
  return all.with(from, other).with(from + by, one)
}

/** Parallel uploads. */
const maxUploading = 2

/** Returns the files to upload next. */
export function nextToUpload(all: Attachments): Attachments {
  const free = maxUploading - all.filter(({ step }) => step.at === 'uploading').length
  return free <= 0 ? [] : all.filter(({ step }) => step.at === 'waiting').slice(0, free)
}

/** Returns the submitted file that the others wait for: until it is accepted, also after it has failed, or removed. */
export const firstSubmitted = (all: Attachments): Attachment | undefined =>
  all.find(({ submitted }) => submitted !== null)

/**
 * After reordering, the text of the field may belong to another file: swaps text and caption so that each stays with
 * its file. The text of a removed file stays in the field.
 */
export function preserveCaptions(
  before: Attachments,
  after: Attachments,
  text: string,
): { attachments: Attachments; text: string } {
  const [was, is] = [captionTarget(before), captionTarget(after)]
  if (is === null || was === null || was.id === is.id) return { attachments: after, text }
  const isGone = !after.some(({ id }) => id === was.id)
  const joined = [text, is.caption].filter((one) => one.trim() !== '').join('\n')
  const attachments = after.map((one) => {
    if (one.id === is.id) return { ...one, caption: '' }
    return one.id === was.id ? { ...one, caption: text } : one
  })
  return { attachments, text: isGone ? joined : is.caption }
}
