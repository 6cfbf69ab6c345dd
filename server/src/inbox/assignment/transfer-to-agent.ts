import { invalid } from '../../base/errors.ts'
import type { Actor } from '../../workspaces/actor.ts'
import { type ConversationChange, changeOwner, withUpdatedAt } from '../conversation/change.ts'
import { commitChange } from '../conversation/commit-change.ts'
import {
  agentsStopped,
  type ChangeDeps,
  type ChangeTx,
  type Conversation,
  inWorkspace,
  keyCannotOwn,
  lockedToPeople,
  notOwner,
  ownedByAgent,
  type Scope,
} from '../conversation/conversation.ts'
import { agent, assigneeAfterRelease, keyIdOf, takeRefusal, type Urgency } from '../conversation/owner.ts'
import { requireLocked } from '../conversation/queries.ts'
import { canAgentOwn, readAgentRules } from './eligible-agents.ts'
import {
  findNewestHandover,
  type Handover,
  type HandoverNote,
  type HandoverTarget,
  insertHandover,
  isSameHandover,
  newHandover,
} from './handovers.ts'

export interface TransferResult {
  conversation: Conversation
  /** Null without a note. */
  handover: Handover | null
  /** Whether this agent had made the same transfer before. */
  isRepeat: boolean
}

export interface TransferRequest {
  conversationId: string
  /** Key of the new owner. */
  keyId: string
  note: HandoverNote | null
  urgency?: Urgency
}

/**
 * Transfers a conversation to an agent. A member can transfer any conversation, an agent only its own. Throws 404
 * outside the scope, 403 while agents are stopped, 400 for a transfer to itself, 409 if the key cannot own the
 * conversation or the calling agent does not own it.
 */
export function transferToAgent(
  deps: ChangeDeps,
  scope: Scope,
  actor: Actor,
  request: TransferRequest,
): Promise<TransferResult> {
  return changeLocked(deps, scope, request.conversationId, async (work, before, isStopped) => {
    const isRepeat = actor.type === 'agent' && (await wasTransferred(work, before, actor.id, request))
    if (isRepeat) return { change: { conversation: before, events: [] }, handover: null, actor, isRepeat }
    if (actor.type === 'agent') assertOwner(before, actor.id)
    if (request.keyId === actor.id) throw invalid('keyId', "must be another agent's key")
    if (isStopped) throw agentsStopped()
    if (!(await canAgentOwn(work, request.keyId, before.connectionId))) throw keyCannotOwn()
    const handover = await recordHandover(work, before, { type: 'agent', keyId: request.keyId }, request, actor)
    return { change: changeOwner(before, agent(request.keyId), actor, work.now, handover?.id), handover, actor }
  })
}

/** Returns whether the agent made the same transfer, with the same note, and the target still owns the conversation. */
async function wasTransferred(
  work: ChangeTx,
  { id, owner }: Conversation,
  fromKeyId: string,
  { keyId, note, urgency = 'normal' }: TransferRequest,
): Promise<boolean> {
  if (note === null || keyIdOf(owner) !== keyId || keyId === fromKeyId) return false
  const newest = await findNewestHandover({ ...work, sql: work.tx }, id)
  return newest !== null && isSameHandover(newest, { keyId: fromKeyId, to: { type: 'agent', keyId }, urgency, note })
}

type Offer = Pick<TransferRequest, 'conversationId' | 'note'>

/**
 * Offers a conversation of people to all agents; the first to take it becomes the owner. Throws 404 outside the scope,
 * 403 while agents are stopped, 409 `OWNER_MISMATCH` if an agent owns it.
 */
export function offerToAgents(deps: ChangeDeps, scope: Scope, actor: Actor, offer: Offer): Promise<TransferResult> {
  return changeLocked(deps, scope, offer.conversationId, async (work, before, isStopped) => {
    if (before.owner.type === 'agent') throw ownedByAgent(before)
    if (isStopped) throw agentsStopped()
    const handover = await recordHandover(work, before, { type: 'agents' }, offer, actor)
    const assignedTo = assigneeAfterRelease(before.assignedTo, actor)
    const isOffered = !before.held && before.handover === null && handover === null && assignedTo === before.assignedTo
    const conversation = isOffered
      ? before
      : withUpdatedAt({ ...before, held: false, handover: null, assignedTo }, work.now)
    return { change: { conversation, events: [] }, handover, actor }
  })
}

/**
 * Makes the agent the owner of a conversation that people do not hold: offered, or not yet looked at. Does nothing if
 * the agent already owns it. Throws 404 outside the scope, 403 while agents are stopped, otherwise 409 `HELD_BY_PEOPLE`
 * or `OWNER_MISMATCH`.
 */
export async function takeOffered(deps: ChangeDeps, scope: Scope, keyId: string, id: string): Promise<Conversation> {
  const actor: Actor = { type: 'agent', id: keyId }
  const { conversation } = await changeLocked(deps, scope, id, async (work, before, isStopped) => {
    const refusal = takeRefusal(before, keyId, 'offered_only', 'when_handed')
    if (refusal === 'held_by_people') throw lockedToPeople(before, 'HELD_BY_PEOPLE')
    if (refusal === 'of_another_agent') throw ownedByAgent(before)
    const change = changeOwner(before, agent(keyId), actor, work.now)
    if (change.conversation === before) return { change, handover: null, actor }
    if (isStopped) throw agentsStopped()
    if (!(await canAgentOwn(work, keyId, before.connectionId))) throw keyCannotOwn()
    // An agent that takes a conversation counts as having seen its messages.
    const taken = { ...change.conversation, inbound: { ...before.inbound, seen: before.inbound.newest } }
    return { change: { ...change, conversation: taken }, handover: null, actor }
  })
  return conversation
}

/** Throws 409 if the agent does not own the conversation. */
export function assertOwner(conversation: Conversation, keyId: string): void {
  if (keyIdOf(conversation.owner) === keyId) return
  throw conversation.held ? lockedToPeople(conversation, 'HELD_BY_PEOPLE') : notOwner(conversation)
}

interface OwnerChange {
  change: ConversationChange
  handover: Handover | null
  actor: Actor
  isRepeat?: boolean
}

type PlanOwnerChange = (work: ChangeTx, before: Conversation, isStopped: boolean) => Promise<OwnerChange>

async function changeLocked(deps: ChangeDeps, scope: Scope, id: string, plan: PlanOwnerChange) {
  const { workspaceId } = scope
  return inWorkspace(deps, workspaceId, async (work) => {
    const { isStopped } = await readAgentRules(work.tx, workspaceId)
    const before = await requireLocked(work, scope, id)
    const { change, handover, actor, isRepeat = false } = await plan(work, before, isStopped)
    // The note is part of the conversation that the team sees.
    const after = handover === null ? change.conversation : withUpdatedAt(change.conversation, work.now)
    const cause = { actor, reason: null }
    const conversation = await commitChange(work, before, { ...change, conversation: after }, cause)
    return { conversation, handover, isRepeat }
  })
}

async function recordHandover(
  work: ChangeTx,
  before: Conversation,
  to: HandoverTarget,
  { note, urgency = 'normal' }: Pick<TransferRequest, 'note' | 'urgency'>,
  actor: Actor,
): Promise<Handover | null> {
  if (note === null) return null
  const handover = newHandover({ ...note, from: before.owner, to, urgency, actor }, work.now)
  await insertHandover(work, before.id, handover)
  return handover
}
