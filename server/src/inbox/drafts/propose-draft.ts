import { newId } from '../../base/id.ts'
import { recordEvents } from '../../events/record.ts'
import { recordNotifications } from '../../notifications/record-notifications.ts'
import { draftProposed } from '../conversation/change.ts'
import {
  type ChangeDeps,
  type ChangeTx,
  type Conversation,
  inWorkspace,
  publishConversations,
} from '../conversation/conversation.ts'
import type { SeenPosition } from '../conversation/conversation-state.ts'
import { keyIdOf } from '../conversation/owner.ts'
import { requireLocked } from '../conversation/queries.ts'
import { lockToSend, storeResult } from '../scheduled/scheduled-message.ts'
import type { Sender } from '../send/send-deps.ts'
import { CustomerWroteAgain, ownerMismatch } from '../send/send-errors.ts'
import type { ApprovalReason } from './approval-rules.ts'
import { type Draft, type DraftContent, encryptContent, endOpenDrafts, isCurrent, selectDrafts } from './draft.ts'

export interface DraftProposal {
  conversationId: string
  content: DraftContent
  why: ApprovalReason
  /** How far the agent had seen. */
  seen: SeenPosition | null
  /** The scheduled message that it becomes. */
  scheduledId?: string
}

export interface ProposedDraft {
  draft: Draft
  /** False: an earlier call proposed it; it may have been decided since. */
  isNew: boolean
}

/**
 * Stores an answer for people to approve, in place of the agent's previous draft. Throws 404, 409 `OWNER_MISMATCH`, and
 * 409 `CUSTOMER_WROTE_AGAIN` if the customer has written since the agent read the conversation.
 */
export function proposeDraft(
  deps: ChangeDeps,
  agent: Sender & { actor: { type: 'agent' } },
  proposal: DraftProposal,
): Promise<ProposedDraft> {
  return inWorkspace(deps, agent.workspaceId, async (work) => {
    const { tx } = work
    const conversation = await requireLocked(work, agent, proposal.conversationId)
    if (keyIdOf(conversation.owner) !== agent.actor.id) throw ownerMismatch(conversation.owner)
    if (proposal.scheduledId !== undefined) await draftScheduled(work, conversation, proposal.scheduledId)
    const newestDraft = tx`order by d.created_at desc, d.id desc limit 1`
    const [earlier] = await selectDrafts({ ...work, sql: tx }, conversation.id, newestDraft)
    if (earlier !== undefined && isRepeat(earlier, conversation, proposal)) return { draft: earlier, isNew: false }
    const { newest } = conversation.inbound
    if (proposal.seen !== null && newest !== null && newest > proposal.seen.id) throw new CustomerWroteAgain()
    await endOpenDrafts(work, 'replaced', tx`d.conversation_id = ${conversation.id}`)
    return { draft: await insertDraft(work, agent.actor.id, conversation, proposal), isNew: true }
  })
}

/** Ends a scheduled message, which becomes the draft. Throws if it was cancelled. */
async function draftScheduled(work: ChangeTx, conversation: Conversation, id: string): Promise<void> {
  await lockToSend(work, conversation, id)
  await storeResult(work, { id, conversationId: conversation.id }, { status: 'drafted' })
}

const isRepeat = (earlier: Draft, conversation: Conversation, { content }: DraftProposal): boolean =>
  earlier.content.key === content.key &&
  earlier.status !== 'replaced' &&
  earlier.status !== 'stale' &&
  isCurrent(earlier, conversation)

async function insertDraft(work: ChangeTx, keyId: string, conversation: Conversation, { content, why }: DraftProposal) {
  const { tx, keyring, workspaceId, now } = work
  const draft: Draft = {
    ...{ id: newId(now), conversationId: conversation.id, keyId, status: 'open', why, content, createdAt: now },
    ...{ inboundId: conversation.inbound.newest, ownerEpoch: conversation.ownerEpoch },
    ...{ decidedAt: null, decidedBy: null, sentText: null, reason: null, messageId: null },
  }
  await tx`
    insert into drafts (
      workspace_id, id, conversation_id, key_id, status, why, content, inbound_id, owner_epoch, created_at
    )
    values (
      ${workspaceId}, ${draft.id}, ${draft.conversationId}, ${keyId}, 'open', ${why},
      ${encryptContent(keyring, draft.id, content)}, ${draft.inboundId}, ${draft.ownerEpoch}, ${now}
    )`
  await recordEvents(tx, keyring, workspaceId, [draftProposed(conversation, draft)], now)
  const actor = { type: 'agent', id: keyId } as const
  const notified = { kind: 'draft' as const, cause: draft.id, userId: conversation.assignedTo, actor }
  await recordNotifications(tx, workspaceId, [{ ...notified, conversationId: conversation.id }], now)
  publishConversations(tx, workspaceId, [conversation.id])
  return draft
}
