import { ApiError } from '../../base/errors.ts'
import { inWorkspace, publishConversations } from '../conversation/conversation.ts'
import { requireConversation, requireLocked } from '../conversation/queries.ts'
import { sendMessage } from '../send/send.ts'
import type { DraftApproval, SendDeps, SendResponse } from '../send/send-deps.ts'
import { IdempotencyKeyReused } from '../send/send-errors.ts'
import { closeDraft } from './close-draft.ts'
import { type Draft, draftDecided, draftStale, endOpenDrafts, requireDraft, textOf, withText } from './draft.ts'

/** A person, who decides on drafts of the workspace. */
interface Decider {
  workspaceId: string
  actor: { type: 'user' | 'token'; id: string }
}

interface Approval {
  conversationId: string
  draftId: string
  /** The text to send instead; null: as drafted. */
  text: string | null
}

/**
 * Sends a draft in the name of its agent, which keeps the conversation. The draft is closed by the transaction that
 * reserves the send, so that it becomes at most one message, and only if nothing that it answers has changed. Repeating
 * an approval returns the first response. Throws what sending throws; 404; 409 `DRAFT_DECIDED` and `DRAFT_STALE`.
 */
export async function approveDraft(deps: SendDeps, by: Decider, approval: Approval): Promise<SendResponse> {
  const draft = await findDraft(deps, by.workspaceId, approval)
  if (draft.status === 'rejected' || draft.status === 'replaced') throw draftDecided(draft.status)
  const { body, syntax, identity, sources } = draft.content
  const before = textOf(body)
  const isEdited = approval.text !== null && approval.text !== before
  const changed = isEdited ? withText(body, approval.text ?? '') : body
  const sentText = textOf(changed)
  const closing: DraftApproval = {
    id: draft.id,
    by: by.actor,
    status: isEdited ? 'edited' : 'sent',
    text: sentText,
    distance: isEdited ? editDistance(before ?? '', sentText ?? '') : 0,
  }
  const agent = { workspaceId: by.workspaceId, connectionIds: [], actor: { type: 'agent' as const, id: draft.keyId } }
  return sendMessage(deps, agent, {
    conversationId: draft.conversationId,
    idempotencyKey: `draft:${draft.id}`,
    body: changed,
    ...(syntax !== null && { syntax }),
    ...(identity !== null && !isEdited && { identity }),
    ...(draft.inboundId !== null && { seen: { id: draft.inboundId, isNamed: true } }),
    draft: closing,
    ...(sources !== undefined && { sources }),
  }).catch((error) => explain(deps, by.workspaceId, draft, error))
}

/** A draft is stale for the same reasons for which a send of its agent is refused. */
async function explain(deps: SendDeps, workspaceId: string, draft: Draft, error: unknown): Promise<never> {
  if (error instanceof IdempotencyKeyReused) throw draftDecided('edited')
  const code = error instanceof ApiError ? error.data?.code : undefined
  if (code !== 'DRAFT_STALE' && code !== 'CUSTOMER_WROTE_AGAIN' && code !== 'OWNER_MISMATCH') throw error
  await inWorkspace(deps, workspaceId, async (work) => {
    await endOpenDrafts(work, 'stale', work.tx`d.id = ${draft.id}`)
    publishConversations(work.tx, workspaceId, [draft.conversationId])
  })
  throw draftStale()
}

async function findDraft(
  { db, keyStore }: SendDeps,
  workspaceId: string,
  { conversationId, draftId }: Pick<Approval, 'conversationId' | 'draftId'>,
): Promise<Draft> {
  const conversation = await requireConversation(db.sql, { workspaceId, connectionIds: [] }, conversationId)
  const work = { sql: db.sql, keyring: await keyStore.keyring(workspaceId), workspaceId }
  return requireDraft(work, conversation.id, draftId)
}

/** Rejects a draft; the agent gets the reason. Repeating it changes nothing. Throws 404, 409 `DRAFT_DECIDED`. */
export function rejectDraft(
  deps: SendDeps,
  { workspaceId, actor }: Decider,
  { conversationId, draftId, reason }: { conversationId: string; draftId: string; reason: string | null },
): Promise<void> {
  return inWorkspace(deps, workspaceId, async (work) => {
    const { tx } = work
    const conversation = await requireLocked(work, { workspaceId, connectionIds: [] }, conversationId)
    const draft = await requireDraft({ ...work, sql: tx }, conversation.id, draftId, tx`for update`)
    if (draft.status === 'rejected') return
    // A stale draft can be rejected: the reason still helps the agent.
    if (draft.status !== 'open' && draft.status !== 'stale') throw draftDecided(draft.status)
    const closing = { id: draft.id, by: actor, status: 'rejected' as const, text: null, reason, distance: null }
    await closeDraft(work, conversation, draft.keyId, closing, null)
  })
}

/** Texts beyond this many words are compared by their beginnings: the work grows with the square. */
const maxWords = 1000

/**
 * Returns how much of a text was changed, from 0 (nothing) to 1 (everything): words inserted, removed and replaced, as a
 * share of the longer text.
 */
export function editDistance(before: string, after: string): number {
  if (before === after) return 0
  const [from, to] = [wordsOf(before), wordsOf(after)]
  const longest = Math.max(from.length, to.length)
  // Only the spaces differ.
  if (longest === 0) return 0
  let previous = Array.from({ length: to.length + 1 }, (_, n) => n)
  for (const [row, word] of from.entries()) {
    const current = [row + 1]
    for (const [column, other] of to.entries()) {
      const replaced = (previous[column] ?? 0) + (word === other ? 0 : 1)
      current.push(Math.min(replaced, (previous[column + 1] ?? 0) + 1, (current[column] ?? 0) + 1))
    }
    previous = current
  }
  return (previous[to.length] ?? 0) / longest
}

const wordsOf = (text: string): string[] =>
  text
    .split(/\s+/, maxWords + 1)
    .filter((word) => word !== '')
    .slice(0, maxWords)
