import { type ApiError, conflict } from '../../base/errors.ts'
import type { ConsentDecision, ConsentPurpose } from '../../consents/consent.ts'
import type { Actor } from '../../workspaces/actor.ts'
import { type ChangeDeps, type Conversation, inWorkspace, type Scope } from '../conversation/conversation.ts'
import { lockConversation, requireLocked } from '../conversation/queries.ts'
import { recordConsent, undoRecordedConsent } from './record-consent.ts'

/**
 * Records what the customer of a conversation has told a person or an agent; `undo` takes the actor's
 * last decision back. Applies to the customer on every connection. Throws 404 outside the scope.
 */
export async function setConsent(
  deps: ChangeDeps,
  scope: Scope,
  actor: Actor,
  conversationId: string,
  decision: ConsentDecision | 'undo',
  purpose: ConsentPurpose = 'marketing',
): Promise<Conversation> {
  return inWorkspace(deps, scope.workspaceId, async (work) => {
    const before = await requireLocked(work, scope, conversationId)
    const { phone, userId } = before.contact
    if (phone === null && userId === null) throw conflict('The customer has neither a phone nor a user id yet')
    const customer = { phone, userId }
    if (decision !== 'undo') {
      const { connectionId } = before
      await recordConsent(work, { ...decisionOf(actor, decision), customer, purpose, connectionId })
    } else if (!(await undoRecordedConsent(work, { customer, actor, purpose }))) throw nothingToUndo()
    return (await lockConversation(work, scope, before.id)) ?? before
  })
}

/** Does the same for someone known by phones only, such as a lead or the sender of a form. */
export async function setConsentOfPhones(
  deps: ChangeDeps,
  workspaceId: string,
  actor: Actor,
  phones: readonly string[],
  decision: ConsentDecision | 'undo',
  purpose: ConsentPurpose = 'marketing',
): Promise<void> {
  await inWorkspace(deps, workspaceId, async (work) => {
    let undone = 0
    // Sorted, so that two requests for the same phones cannot deadlock.
    for (const phone of phones.toSorted()) {
      const customer = { phone, userId: null }
      if (decision === 'undo') undone += (await undoRecordedConsent(work, { customer, actor, purpose })) ? 1 : 0
      else await recordConsent(work, { ...decisionOf(actor, decision), customer, purpose, connectionId: null })
    }
    if (decision === 'undo' && undone === 0) throw nothingToUndo()
  })
}

const nothingToUndo = (): ApiError =>
  conflict('There is no decision of yours from the last 10 minutes to undo. Record the current one instead.')

function decisionOf(actor: Actor, decision: ConsentDecision) {
  const source = actor.type === 'form' || actor.type === 'agent' ? actor.type : 'member'
  return { decision, source, actor, reportedAt: null } as const
}
