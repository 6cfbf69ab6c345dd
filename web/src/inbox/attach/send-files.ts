import type { Inbox } from '../../data/inbox/inbox.ts'
import { enqueue, sendInBackground } from '../../data/inbox/outbox.ts'
import type { Reply, UploadLimits } from '../../data/inbox/types.ts'
import { attachFiles } from './attach-files.ts'
import type { Attachment, Attachments } from './attachment.ts'
import { firstSubmitted, isHalted, nextToSend, preserveCaptions } from './attachments.ts'
import { changeAttachments, setAttachments } from './tray.ts'
import { attachmentsOf, nextChange } from './tray-store.ts'

/** Where a message that the service refused is told of; null when the next is tried. */
export type ReportRefusal = (
  refused: { error: unknown; reply: Reply; text: string; ifLastMessageId: string | null } | null,
) => void

/** What goes with the files of a conversation. */
export interface FileSubmission {
  /** The caption of the first that takes one. */
  text: string
  seenId: string | null
  quotedId: string | null
}

/** Takes what was chosen, dropped or pasted. */
export const addFiles = ({ workspaceId }: Inbox, id: string, limits: UploadLimits, files: readonly File[]): void =>
  attachFiles(workspaceId, id, limits, files)

/** Takes what was recorded. */
export const addRecording = ({ workspaceId }: Inbox, id: string, recorded: Attachment): void =>
  changeAttachments(workspaceId, id, { type: 'added', attachments: [recorded] })

/** Puts the files in another order or takes one away. Returns the text of the field, as the first file's caption. */
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
  // What had failed may have been taken away.
  sendSubmitted(inbox, id, report)
  return rearranged.text
}

/** Sends what waits in the tray, a message for each file: the next when the one before was accepted. */
export function submitFiles(inbox: Inbox, id: string, report: ReportRefusal, submission: FileSubmission): void {
  changeAttachments(inbox.workspaceId, id, { type: 'submitted', ...submission })
  sendSubmitted(inbox, id, report)
}

/** Goes on where a file has failed, under the key that its message had before. */
export function retryFile(inbox: Inbox, id: string, report: ReportRefusal, attachmentId: string): void {
  changeAttachments(inbox.workspaceId, id, { type: 'retried', id: attachmentId, nowMs: Date.now() })
  sendSubmitted(inbox, id, report)
}

/** The same for the first that failed, after its sender has seen what was written meanwhile. */
export function resendFiles(inbox: Inbox, id: string, report: ReportRefusal, seenId: string | null): void {
  changeAttachments(inbox.workspaceId, id, { type: 'seenUpdated', seenId })
  const first = firstSubmitted(attachmentsOf(inbox.workspaceId, id))
  if (first !== undefined) retryFile(inbox, id, report, first.id)
}

/** In turn with all else that is written in the conversation: those that are let go now, no later ones. */
function sendSubmitted(inbox: Inbox, id: string, report: ReportRefusal): void {
  const all = attachmentsOf(inbox.workspaceId, id)
  const ids = new Set(all.filter(({ submitted }) => submitted !== null).map((one) => one.id))
  if (ids.size > 0) void enqueue(id, () => sendEach(inbox, id, report, ids))
}

async function sendEach(inbox: Inbox, id: string, report: ReportRefusal, ids: ReadonlySet<string>): Promise<void> {
  const { workspaceId } = inbox
  for (;;) {
    const all = attachmentsOf(workspaceId, id)
    const first = firstSubmitted(all)
    if (first === undefined || !ids.has(first.id) || isHalted(all)) return
    const next = nextToSend(all)
    if (next?.step.at === 'ready') await sendOne(inbox, id, report, next, next.step.upload.id)
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
  changeAttachments(workspaceId, id, { type: 'sendBegan', id: one.id })
  report(null)
  try {
    await sendInBackground(inbox, id, { reply, key, ifLastMessageId })
    changeAttachments(workspaceId, id, { type: 'accepted', id: one.id })
  } catch (error) {
    changeAttachments(workspaceId, id, { type: 'failed', id: one.id, error })
    report({ error, reply, text: caption, ifLastMessageId })
  }
}
