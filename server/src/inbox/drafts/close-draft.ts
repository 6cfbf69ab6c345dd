import { recordEvents } from '../../events/record.ts'
import { type DraftOutcome, draftDecided as draftDecidedEvent } from '../conversation/change.ts'
import { recordActivities } from '../conversation/commit-change.ts'
import {
  type ChangeTx,
  type Conversation,
  type ConversationRef,
  publishConversations,
  type WorkspaceTx,
} from '../conversation/conversation.ts'
import { agent, writeOwner } from '../conversation/owner.ts'
import type { DraftApproval } from '../send/send-deps.ts'
import { draftDecided, draftStale, encryptDecision, isCurrent, requireDraft } from './draft.ts'

/**
 * Locks an open draft that still answers the conversation; throws 409 otherwise. Requires the conversation's lock, in
 * the transaction that reserves its send.
 */
export async function lockDraft(work: WorkspaceTx, conversation: Conversation, id: string): Promise<void> {
  const { tx } = work
  const draft = await requireDraft({ ...work, sql: tx }, conversation.id, id, tx`for update`)
  if (draft.status === 'stale') throw draftStale()
  if (draft.status !== 'open') throw draftDecided(draft.status)
  if (!isCurrent(draft, conversation)) throw draftStale()
}

interface Closing extends Omit<DraftApproval, 'status' | 'distance'> {
  status: DraftOutcome
  reason?: string | null
  distance: number | null
}

/** Stores a decision, for the agent, the timeline and the pages. Requires the locks of conversation and draft. */
export async function closeDraft(
  work: ChangeTx,
  conversation: ConversationRef,
  keyId: string,
  { id, by, status, text, reason = null, distance }: Closing,
  messageId: string | null,
): Promise<void> {
  const { tx, keyring, workspaceId, now } = work
  publishConversations(tx, workspaceId, [conversation.id])
  const detail = { kind: 'draft', from: writeOwner(agent(keyId)), to: status } as const
  const event = draftDecidedEvent(conversation, { id, keyId, status, messageId, text, reason }, by, now)
  await Promise.all([
    tx`
      update drafts
      set status = ${status},
        decided_at = ${now},
        actor_type = ${by.type},
        actor_id = ${by.id},
        decision = ${encryptDecision(keyring, id, { sentText: text, reason })},
        distance = ${distance},
        message_id = ${messageId}
      where workspace_id = ${workspaceId}
        and id = ${id}`.execute(),
    recordActivities(work, [{ conversation, detail }], { actor: by, reason: null }),
    recordEvents(tx, keyring, workspaceId, [event], now),
  ])
}
