import type { Inbox } from '../../data/inbox/inbox.ts'
import { inLine, sendQuietly } from '../../data/inbox/outbox.ts'
import type { Reply, UploadLimits } from '../../data/inbox/types.ts'
import type { Attachment, Attachments } from './attachment.ts'
import { firstLetGo, isHalted, keepCaptions, nextToSend } from './attachments.ts'
import { attachmentsOf, nextChange } from './held-files.ts'
import { takeFiles } from './take-files.ts'
import { changeAttachments, keepAttachments } from './tray.ts'

/** Where a message that the service refused is told of; null when the next is tried. */
export type Tell = (
  refused: { error: unknown; reply: Reply; text: string; ifLastMessageId: string | null } | null,
) => void

/** What goes with the files of a conversation. */
export interface WithFiles {
  /** The caption of the first that takes one. */
  text: string
  seenId: string | null
  quotedId: string | null
}

/** Takes what was chosen, dropped or pasted. */
export const addFiles = ({ workspaceId }: Inbox, id: string, limits: UploadLimits, files: readonly File[]): void =>
  takeFiles(workspaceId, id, limits, files)

/** Takes what was recorded. */
export const addRecorded = ({ workspaceId }: Inbox, id: string, recorded: Attachment): void =>
  changeAttachments(workspaceId, id, { type: 'added', attachments: [recorded] })

/** Puts the files in another order or takes one away. Returns the text of the field, as the first file's caption. */
export function arrangeFiles(
  inbox: Inbox,
  id: string,
  tell: Tell,
  { change, text }: { change(before: Attachments): Attachments; text: string },
): string {
  const { workspaceId } = inbox
  const before = attachmentsOf(workspaceId, id)
  const kept = keepCaptions(before, change(before), text)
  keepAttachments(workspaceId, id, kept.attachments)
  // What had failed may have been taken away.
  sendLetGo(inbox, id, tell)
  return kept.text
}

/** Sends what waits in the tray, a message for each file: the next when the one before was accepted. */
export function letGoFiles(inbox: Inbox, id: string, tell: Tell, wish: WithFiles): void {
  changeAttachments(inbox.workspaceId, id, { type: 'letGo', ...wish })
  sendLetGo(inbox, id, tell)
}

/** Goes on where a file has failed, under the key that its message had before. */
export function retryFile(inbox: Inbox, id: string, tell: Tell, attachmentId: string): void {
  changeAttachments(inbox.workspaceId, id, { type: 'retried', id: attachmentId, nowMs: Date.now() })
  sendLetGo(inbox, id, tell)
}

/** The same for the first that failed, after its sender has seen what was written meanwhile. */
export function sendFilesAgain(inbox: Inbox, id: string, tell: Tell, seenId: string | null): void {
  changeAttachments(inbox.workspaceId, id, { type: 'sawMore', seenId })
  const first = firstLetGo(attachmentsOf(inbox.workspaceId, id))
  if (first !== undefined) retryFile(inbox, id, tell, first.id)
}

/** In turn with all else that is written in the conversation: those that are let go now, no later ones. */
function sendLetGo(inbox: Inbox, id: string, tell: Tell): void {
  const all = attachmentsOf(inbox.workspaceId, id)
  const ids = new Set(all.filter(({ letGo }) => letGo !== null).map((one) => one.id))
  if (ids.size > 0) void inLine(id, () => sendEach(inbox, id, tell, ids))
}

async function sendEach(inbox: Inbox, id: string, tell: Tell, ids: ReadonlySet<string>): Promise<void> {
  const { workspaceId } = inbox
  for (;;) {
    const all = attachmentsOf(workspaceId, id)
    const first = firstLetGo(all)
    if (first === undefined || !ids.has(first.id) || isHalted(all)) return
    const next = nextToSend(all)
    if (next?.step.at === 'ready') await sendOne(inbox, id, tell, next, next.step.upload.id)
    else await nextChange()
  }
}

async function sendOne(inbox: Inbox, id: string, tell: Tell, one: Attachment, uploadId: string): Promise<void> {
  const { workspaceId } = inbox
  const { caption, key, letGo } = one
  const quoted = letGo?.quotedId == null ? {} : { quoted_message_id: letGo.quotedId }
  const reply: Reply = { kind: 'media', upload_id: uploadId, ...(caption === '' ? {} : { text: caption }), ...quoted }
  const ifLastMessageId = letGo?.seenId ?? null
  changeAttachments(workspaceId, id, { type: 'sendBegan', id: one.id })
  tell(null)
  try {
    await sendQuietly(inbox, id, { reply, key, ifLastMessageId })
    changeAttachments(workspaceId, id, { type: 'accepted', id: one.id })
  } catch (error) {
    changeAttachments(workspaceId, id, { type: 'failed', id: one.id, error })
    tell({ error, reply, text: caption, ifLastMessageId })
  }
}
