import type { Connection } from '../../channels/connection/connection.ts'
import { recordEvents } from '../../events/record.ts'
import { BudgetReached } from '../budgets/alerts.ts'
import { checkBudgets } from '../budgets/allowance.ts'
import { hasBudgets } from '../budgets/budget-queries.ts'
import { recountForSend } from '../budgets/count-ledger.ts'
import { insertConversations } from '../conversation/batch-queries.ts'
import { type ConversationChange, changeOwner } from '../conversation/change.ts'
import { commitChange, recordDifference } from '../conversation/commit-change.ts'
import {
  agentsStopped,
  type ChangeTx,
  type Conversation,
  connectionNotFound,
  inTransaction,
  keyCannotOwn,
  lockedToPeople,
  ownedByAgent,
} from '../conversation/conversation.ts'
import { withStatus } from '../conversation/conversation-state.ts'
import { newConversation, withKnownConsent } from '../conversation/customer.ts'
import { lockCustomer } from '../conversation/lock-customer.ts'
import { agent, takeRefusal } from '../conversation/owner.ts'
import { countryOf } from '../costs/markets.ts'
import { retryOnRace } from '../receive/permanent-errors.ts'
import { noReferences } from '../send/check-references.ts'
import { checkSend } from '../send/send-checks.ts'
import type { SendCommand } from '../send/send-command.ts'
import { actorOfSender, type SendDeps, type Sender } from '../send/send-deps.ts'
import { countSends } from '../send/send-limits.ts'
import { findTemplateFacts } from '../send/template-facts.ts'
import { canAgentOwn, readAgentRules } from './eligible-agents.ts'
import type { HandoverAgent } from './hand-over.ts'

export interface ConversationStart {
  connectionId: string
  /** Digits with country code. */
  phone: string
  /** Template to send: a conversation is created only for a message that can be sent. */
  template: Extract<SendCommand, { kind: 'template' }>
  /** Whether a person sends it although a budget is used up. */
  isOverBudget?: boolean
}

export interface StartedConversation {
  conversation: Conversation
  /** False if the customer already had a conversation. */
  isNew: boolean
}

/**
 * Returns the conversation with a customer, who may never have written, and creates it if needed, so that the caller
 * can send a template. An existing conversation becomes the agent's if neither people nor another agent have it; a
 * person takes it by sending. Throws 404 for a connection outside the scope; for agents 403 while they are stopped and
 * 409 if people or another agent have the conversation; and whatever sending the template would throw. Nothing is
 * created then.
 */
export async function findOrCreateConversation(
  deps: SendDeps,
  caller: Sender,
  request: ConversationStart,
): Promise<StartedConversation> {
  const { workspaceId, connectionIds } = caller
  const isAllowed = connectionIds.length === 0 || connectionIds.includes(request.connectionId)
  if (!isAllowed) throw connectionNotFound()
  const start = () =>
    retryOnRace(() => inTransaction(deps, workspaceId, (work) => startLocked(deps, work, caller, request)))
  return start().catch(async (error: unknown) => {
    // Like a send, it is refused by a budget only after a fresh count.
    if (!(error instanceof BudgetReached) || !(await recountForSend(deps, workspaceId))) throw error
    return start()
  })
}

async function startLocked(
  deps: SendDeps,
  work: ChangeTx,
  caller: Sender,
  { connectionId, phone, template: command, isOverBudget = false }: ConversationStart,
): Promise<StartedConversation> {
  const { tx, keyring, workspaceId, now } = work
  const isConfirmed = isOverBudget && !isAgent(caller)
  // In the transaction, like a send, so that both decide by the same holds.
  const [connection] = await deps.connectionsIn(tx, keyring, workspaceId, tx`select ${connectionId}::uuid`)
  if (connection === undefined) throw connectionNotFound()
  if (isAgent(caller)) await checkAgent(work, caller.actor.id, connectionId)
  const customer = { userId: null, parentUserId: null, phone, name: null }
  const found = await lockCustomer(work, connectionId, customer)
  const recipient = { connectionId, conversationId: found?.id ?? null, customer: found?.contact ?? customer }
  const [{ template, consents, isFree }, isLimited] = await Promise.all([
    findTemplateFacts(work, command, recipient, connection),
    hasBudgets(tx, workspaceId),
  ])
  const before =
    found ?? withKnownConsent(startOf(caller, newConversation(connection, customer, 'third_party', now, now)), consents)
  const change = isAgent(caller) ? takeConversation(before, caller, now) : { conversation: before, events: [] }
  const { conversation } = change
  checkSend({
    ...{ command, sender: caller, conversation, readiness: connection, template, consents, isFree, now },
    references: noReferences,
    maxTextLength: null,
    supportsChoices: false,
    mediaTransport: undefined,
  })
  // The agent may repeat the call for its own conversation after a lost response: limits only a new owner.
  const isNewOwner = before.ownerEpoch !== conversation.ownerEpoch
  if (isAgent(caller) && isNewOwner) await checkLimits(work, caller, conversation.id)
  if (isLimited && (found === undefined || isNewOwner)) {
    const price = { country: countryOf(customer), category: (template?.category ?? '').toLowerCase() }
    await checkBudgets(work, { ...sendOf(caller, connection, conversation.id), ...price, isConfirmed })
  }
  if (found !== undefined) {
    if (conversation === before) return { conversation, isNew: false }
    await commitChange(work, before, change, { actor: actorOfSender(caller), reason: null })
    return { conversation, isNew: false }
  }
  await Promise.all([
    insertConversations(work, [conversation]),
    recordDifference(work, before, conversation, { actor: actorOfSender(caller), reason: 'began' }),
    recordEvents(tx, keyring, workspaceId, change.events, now),
  ])
  return { conversation, isNew: true }
}

/** A broadcast is no reason to look at a conversation, until the customer writes. */
const startOf = ({ reachesAgents }: Sender, created: Conversation): Conversation =>
  reachesAgents === true ? { ...created, ...withStatus('resolved') } : created

const sendOf = (caller: Sender, { id: connectionId, numberId }: Connection, conversationId: string) => ({
  ...{ connectionId, numberId, conversationId, isCharging: true, parts: 1 },
  keyId: isAgent(caller) ? caller.actor.id : null,
})

const isAgent = (caller: Sender): caller is HandoverAgent => caller.actor.type === 'agent'

async function checkAgent(work: ChangeTx, keyId: string, connectionId: string): Promise<void> {
  const { isStopped } = await readAgentRules(work.tx, work.workspaceId)
  if (isStopped) throw agentsStopped()
  if (!(await canAgentOwn(work, keyId, connectionId))) throw keyCannotOwn()
}

function takeConversation(before: Conversation, { actor }: HandoverAgent, now: Date): ConversationChange {
  assertCanTake(before, actor.id)
  return changeOwner(before, agent(actor.id), actor, now)
}

function assertCanTake(conversation: Conversation, keyId: string): void {
  const refusal = takeRefusal(conversation, keyId, 'offered_only', 'when_handed')
  if (refusal === 'held_by_people') throw lockedToPeople(conversation, 'HELD_BY_PEOPLE')
  if (refusal === 'of_another_agent') throw ownedByAgent(conversation)
}

/** Throws if the message would exceed the send limits. Counts nothing: the send itself counts. */
async function checkLimits(work: ChangeTx, sender: HandoverAgent, conversationId: string): Promise<void> {
  const send = { sender, conversationId }
  const allowance = await countSends(work, [send])
  allowance.check(send)
  await allowance.release()
}
