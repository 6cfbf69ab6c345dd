import type { Inbox } from '../../data/inbox/inbox.ts'
import { inLine, sendQuietly } from '../../data/inbox/outbox.ts'
import type { Reply } from '../../data/inbox/types.ts'
import { type Attachment, firstLetGo, isHalted, nextToSend } from '../attach/attachments.ts'
import { attachmentsOf, changeAttachments, nextChange } from '../attach/tray.ts'
import { setRefusal } from './drafts.ts'
import { refusalOf } from './refusal.ts'

/** What goes with the files of a conversation. */
export interface WithFiles {
  /** The caption of the first that takes one. */
  text: string
  seenId: string | null
  quotedId: string | null
}

/** Sends what waits in the tray, a message for each file: the next when the one before was accepted. */
export function letGoFiles(inbox: Inbox, id: string, wish: WithFiles): void {
  changeAttachments(inbox.workspaceId, id, { type: 'letGo', ...wish })
  sendLetGo(inbox, id)
}

/** Goes on where a file has failed, under the key that its message had before. */
export function retryFile(inbox: Inbox, id: string, attachmentId: string): void {
  changeAttachments(inbox.workspaceId, id, { type: 'retried', id: attachmentId, nowMs: Date.now() })
  sendLetGo(inbox, id)
}

/** The same for the first that failed, after its sender has seen what was written meanwhile. */
export function sendFilesAgain(inbox: Inbox, id: string, seenId: string | null): void {
  changeAttachments(inbox.workspaceId, id, { type: 'sawMore', seenId })
  const first = firstLetGo(attachmentsOf(inbox.workspaceId, id))
  if (first !== undefined) retryFile(inbox, id, first.id)
}

/** In turn with all else that is written in the conversation: those that are let go now, no later ones. */
export function sendLetGo(inbox: Inbox, id: string): void {
  const all = attachmentsOf(inbox.workspaceId, id)
  const ids = new Set(all.filter(({ letGo }) => letGo !== null).map((one) => one.id))
  if (ids.size > 0) void inLine(id, () => sendEach(inbox, id, ids))
}

async function sendEach(inbox: Inbox, id: string, ids: ReadonlySet<string>): Promise<void> {
  const { workspaceId } = inbox
  for (;;) {
    const all = attachmentsOf(workspaceId, id)
    const first = firstLetGo(all)
    if (first === undefined || !ids.has(first.id) || isHalted(all)) return
    const next = nextToSend(all)
    if (next?.step.at === 'ready') await sendOne(inbox, id, next, next.step.upload.id)
    else await nextChange()
  }
}

async function sendOne(inbox: Inbox, id: string, one: Attachment, uploadId: string): Promise<void> {
  const { workspaceId } = inbox
  const { caption, key, letGo } = one
  const quoted = letGo?.quotedId == null ? {} : { quoted_message_id: letGo.quotedId }
  const reply: Reply = { kind: 'media', upload_id: uploadId, ...(caption === '' ? {} : { text: caption }), ...quoted }
  const ifLastMessageId = letGo?.seenId ?? null
  changeAttachments(workspaceId, id, { type: 'sendBegan', id: one.id })
  setRefusal(workspaceId, id, null)
  try {
    await sendQuietly(inbox, id, { reply, key, ifLastMessageId })
    changeAttachments(workspaceId, id, { type: 'accepted', id: one.id })
  } catch (error) {
    changeAttachments(workspaceId, id, { type: 'failed', id: one.id, error })
    setRefusal(workspaceId, id, refusalOf(error, { reply, text: caption, ifLastMessageId }))
  }
}
