import type { Inbox } from '../../data/inbox/inbox.ts'
import { sendReply } from '../../data/inbox/outbox.ts'
import type { Message } from '../../data/inbox/types.ts'
import { privateStorage } from '../../session/private-storage.ts'
import { currentUser } from '../../session/session.ts'
import type { ReportRefusal } from '../attach/send-files.ts'
import { quotedMessageOf, setQuotedMessage } from '../quote/quoted-message.ts'
import { composeStateOf, restoreDraft, setDraft, setRefusal } from './drafts.ts'
import {
  type OutgoingMessage,
  type PendingSend,
  pendingSends,
  removePendingSend,
  savePendingSend,
} from './pending-sends.ts'
import { refusalOf } from './refusal.ts'

/** Sends a message with a new idempotency key. Returns whether it was accepted; otherwise restores the draft. */
export function send(inbox: Inbox, conversationId: string, outgoing: OutgoingMessage): Promise<boolean> {
  const { quoted, ...words } = outgoing
  const kept = { ...words, key: crypto.randomUUID(), userId: currentUser().id, conversationId, atMs: Date.now() }
  savePendingSend(privateStorage, inbox.workspaceId, kept)
  return sendPending(inbox, kept, quoted)
}

/** Shows refused messages of files in the composer. */
export const refusalReporter =
  ({ workspaceId }: Inbox, id: string): ReportRefusal =>
  (refused) =>
    setRefusal(workspaceId, id, refused === null ? null : refusalOf(refused.error, refused))

const resumed = new Set<string>()

/** Resumes sends that were under way when the page was closed. With the same key, so that nothing is sent twice. */
export function resumeSends(inbox: Inbox): void {
  if (resumed.has(inbox.workspaceId)) return
  resumed.add(inbox.workspaceId)
  for (const kept of pendingSends(privateStorage, inbox.workspaceId, currentUser().id)) void sendPending(inbox, kept)
}

async function sendPending(inbox: Inbox, kept: PendingSend, quoted?: Message): Promise<boolean> {
  const { workspaceId } = inbox
  const { conversationId: id, key, reply, text, ifLastMessageId, isOverBudget = false } = kept
  setRefusal(workspaceId, id, null)
  try {
    await sendReply(inbox, id, { key, reply, text, ifLastMessageId, isOverBudget })
    return true
  } catch (error) {
    const { draft } = composeStateOf(workspaceId, id)
    if (reply.kind === 'text') setDraft(workspaceId, id, { mode: 'reply', reply: restoreDraft(text, draft.reply) })
    if (quoted !== undefined && quotedMessageOf(id) === null) setQuotedMessage(id, quoted)
    setRefusal(workspaceId, id, refusalOf(error, { reply, text, ifLastMessageId, isOverBudget }))
    return false
  } finally {
    removePendingSend(privateStorage, workspaceId, key)
  }
}
