import type { Consent, ConsentCustomer, ConsentPurpose, NewConsent } from '../../consents/consent.ts'
import { storeConsent, undoConsent } from '../../consents/store.ts'
import { systemActor } from '../../workspaces/actor.ts'
import { consentChanged } from '../conversation/change.ts'
import { type ActivityReason, type ChangeCause, commitChange, detailsBetween } from '../conversation/commit-change.ts'
import type { ChangeTx, Conversation } from '../conversation/conversation.ts'
import { withConsent } from '../conversation/customer.ts'
import {
  type ConversationRow,
  decryptConversation,
  phoneIndexes,
  userIndexes,
} from '../conversation/encrypted-conversation.ts'
import { conversationColumns, conversationIdsOf } from '../conversation/queries.ts'

/**
 * Records a decision and shows the current one in all conversations of the customer, with an activity
 * and an event in each where it changed. Returns the current decision, which is another one if this arrived late.
 */
export async function recordConsent(
  work: ChangeTx,
  consent: NewConsent,
  reason: ActivityReason | null = null,
): Promise<Consent> {
  const conversations = await lockConversationsOf(work, consent.customer)
  await recordFormer(work, consent.customer, conversations)
  const { current } = await storeConsent(work, consent)
  await showConsent(work, conversations, consent.purpose ?? 'marketing', current, { actor: current.actor, reason })
  return current
}

/**
 * Takes back the actor's own decision of the last minutes, as if it had not been made. Returns false if there is none,
 * or the customer has decided since.
 */
export async function undoRecordedConsent(
  work: ChangeTx,
  { customer, actor, purpose = 'marketing' }: Pick<NewConsent, 'customer' | 'actor' | 'purpose'>,
): Promise<boolean> {
  const conversations = await lockConversationsOf(work, customer)
  const current = await undoConsent(work, { customer, actor, purpose })
  if (current === undefined) return false
  await showConsent(work, conversations, purpose, current, { actor, reason: null })
  return true
}

/** Copies the current decision to the conversations, and tells in each that it changed. */
async function showConsent(
  work: ChangeTx,
  conversations: readonly Conversation[],
  purpose: ConsentPurpose,
  current: Consent | null,
  { actor, reason }: ChangeCause,
): Promise<void> {
  // A form is no author of activities: the detail names it as the source.
  const cause = { actor: actor.type === 'form' ? systemActor : actor, reason }
  for (const before of conversations) {
    const conversation = withConsent(before, purpose, current, work.now)
    const isChanged = detailsBetween(before, conversation).length > 0
    const events = isChanged ? [consentChanged(conversation, purpose, current, actor, work.now)] : []
    await commitChange(work, before, { conversation, events }, cause)
  }
}

/** Before decisions had a history, only the platform reported them, and conversations kept the last one. */
async function recordFormer(work: ChangeTx, customer: ConsentCustomer, conversations: readonly Conversation[]) {
  const { tx, keyring, workspaceId } = work
  for (const { connectionId, contact } of conversations) {
    const { marketing } = contact
    if (marketing === undefined || marketing.source !== undefined) continue
    const at = new Date(marketing.at)
    const decision = marketing.isStopped ? 'opted_out' : 'opted_in'
    const former = { customer, decision, source: 'platform', actor: systemActor, connectionId, reportedAt: at } as const
    await storeConsent({ tx, keyring, workspaceId, now: at }, former)
  }
}

/** Locks the customer's conversations on all connections, in id order. */
async function lockConversationsOf({ tx, keyring, workspaceId }: ChangeTx, { phone, userId }: ConsentCustomer) {
  const phones = phone === null ? [] : phoneIndexes(keyring, phone)
  const users = userId === null ? [] : userIndexes(keyring, userId)
  const rows = await tx<ConversationRow[]>`
    select ${conversationColumns(tx)}
    from conversations c
    where c.workspace_id = ${workspaceId}
      and c.id = any (array(
        ${conversationIdsOf(tx, workspaceId, phones, users)}
      ))
    order by c.id
    for update of c`
  return rows
    .map((row) => decryptConversation(keyring, row))
    .filter(({ contact }) => contact.userId === null || userId === null || contact.userId === userId)
}
