import type { Inbox } from '../../data/inbox/inbox.ts'
import { enqueue, sendInBackground } from '../../data/inbox/outbox.ts'
import type { Reply, UploadLimits } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import { type Attachment, type Attachments, newAttachment } from './attachment.ts'
import { firstSubmitted, preserveCaptions } from './attachments.ts'
import { decideFile } from './limits.ts'
import { changeAttachments, setAttachments, setRejected } from './tray.ts'
import { attachmentsOf, nextChange, type RejectedFile } from './tray-store.ts'

/** The server stores at most 20 unsent uploads per person. */
const maxFiles = 20

/** Called when the server refuses a message; with null when the next attempt starts. */
export type ReportRefusal = (
  refused: {
    error: unknown
    reply: Reply
    text: string
    ifLastMessageId: string | null
    isOverBudget: boolean
  } | null,
) => void

interface FileSubmission {
  /** Caption of the first file that can have one. */
  text: string
  seenId: string | null
  quotedId: string | null
}

/**
 * Adds chosen, dropped or pasted files in order. Files that the channel does not accept are rejected with a reason
 * before they are uploaded.
 */
export function addFiles({ workspaceId }: Inbox, id: string, limits: UploadLimits, input: readonly File[]): void {
  const refused: RejectedFile[] = []
  const attachments: Attachment[] = []
  const free = maxFiles - attachmentsOf(workspaceId, id).length
  for (const file of renamed(input)) {
    const name = file.name.slice(0, 255) || t.attach.pasted
    const fit = decideFile(file, limits)
    if (attachments.length >= free) refused.push({ name, reason: 'many', limit: maxFiles })
    else if ('refused' in fit) refused.push({ name, reason: fit.refused, limit: 'bytes' in fit ? fit.bytes : 0 })
    else attachments.push(newAttachment({ file, name, ...fit }))
  }
  setRejected(workspaceId, id, refused)
  if (attachments.length > 0) changeAttachments(workspaceId, id, { type: 'added', attachments })
}

/** Renames pasted images, which all have the same name. */
function renamed(files: readonly File[]): File[] {
  return files.map((file) => {
    if (file.name !== 'image.png') return file
    return new File([file], `${t.attach.pasted}.png`, { type: file.type })
  })
}

/** Adds a recording. */
export const addRecording = ({ workspaceId }: Inbox, id: string, recorded: Attachment): void =>
  changeAttachments(workspaceId, id, { type: 'added', attachments: [recorded] })

/** Reorders or removes files. Returns the text of the field, which is the caption of the first file. */
export function arrangeFiles(
  inbox: Inbox,
  id: string,
  report: ReportRefusal,
  { change, text }: { change(before: Attachments): Attachments; text: string },
): string {
  const { workspaceId } = inbox
  const before = attachmentsOf(workspaceId, id)
  const rearranged = preserveCaptions(before, change(before), text)
  setAttachments(workspaceId, id, rearranged.attachments)
  // A failed file may have been removed.
  sendSubmitted(inbox, id, report)
  return rearranged.text
}

/** Sends the files in the tray, one message each, the next one after the previous one was accepted. */
export function submitFiles(inbox: Inbox, id: string, report: ReportRefusal, submission: FileSubmission): void {
  changeAttachments(inbox.workspaceId, id, { type: 'submitted', ...submission })
  sendSubmitted(inbox, id, report)
}

/** Retries a failed file with the same idempotency key. */
export function retryFile(inbox: Inbox, id: string, report: ReportRefusal, attachmentId: string): void {
  changeAttachments(inbox.workspaceId, id, { type: 'retried', id: attachmentId, nowMs: Date.now() })
  sendSubmitted(inbox, id, report)
}

/** Retries the first failed file after the writer has confirmed it. */
export function resendFiles(
  inbox: Inbox,
  id: string,
  report: ReportRefusal,
  confirmed: { seenId: string | null; isOverBudget: boolean },
): void {
  changeAttachments(inbox.workspaceId, id, { type: 'confirmed', ...confirmed })
  const first = firstSubmitted(attachmentsOf(inbox.workspaceId, id))
  if (first !== undefined) retryFile(inbox, id, report, first.id)
}

/** Queues the submitted files with other messages of the conversation, without files submitted later. */
function sendSubmitted(inbox: Inbox, id: string, report: ReportRefusal): void {
  const all = attachmentsOf(inbox.workspaceId, id)
  const ids = new Set(all.filter(({ submitted }) => submitted !== null).map((one) => one.id))
  if (ids.size > 0) void enqueue(id, () => sendEach(inbox, id, report, ids))
}

async function sendEach(inbox: Inbox, id: string, report: ReportRefusal, ids: ReadonlySet<string>): Promise<void> {
  const { workspaceId } = inbox
  for (;;) {
    const first = firstSubmitted(attachmentsOf(workspaceId, id))
    if (first === undefined || !ids.has(first.id) || first.step.at === 'failed') return
    if (first.step.at === 'ready') await sendOne(inbox, id, report, first, first.step.upload.id)
    else await nextChange()
  }
}

async function sendOne(
  inbox: Inbox,
  id: string,
  report: ReportRefusal,
  one: Attachment,
  uploadId: string,
): Promise<void> {
  const { workspaceId } = inbox
  const { caption, key, submitted } = one
  const quoted = submitted?.quotedId == null ? {} : { quoted_message_id: submitted.quotedId }
  const reply: Reply = { kind: 'media', upload_id: uploadId, ...(caption === '' ? {} : { text: caption }), ...quoted }
  const ifLastMessageId = submitted?.seenId ?? null
  const isOverBudget = submitted?.isOverBudget ?? false
  changeAttachments(workspaceId, id, { type: 'sendBegan', id: one.id })
  report(null)
  try {
    await sendInBackground(inbox, id, { reply, key, ifLastMessageId, isOverBudget })
    changeAttachments(workspaceId, id, { type: 'accepted', id: one.id })
  } catch (error) {
    changeAttachments(workspaceId, id, { type: 'failed', id: one.id, error })
    report({ error, reply, text: caption, ifLastMessageId, isOverBudget })
  }
}
