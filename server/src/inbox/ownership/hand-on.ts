import type { Tx } from '../../base/db.ts'
import { invalid } from '../../base/errors.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import type { Actor } from '../../workspace/actor.ts'
import { type ConversationChange, changeOwner, touched } from '../conversation/change.ts'
import { commitChange } from '../conversation/commit-change.ts'
import { type Conversation, type InboxDeps, inWorkspace, type Scope } from '../conversation/conversation.ts'
import {
  agentHasIt,
  agentsStopped,
  conversationNotFound,
  heldByPeople,
  keyCannotOwn,
  notYours,
} from '../conversation/errors.ts'
import { agent, keyIdOf, refusalToTake, releasedBy, type Urgency } from '../conversation/owner.ts'
import { lockConversation } from '../conversation/queries.ts'
import { agentCanOwn, readAgentRules } from './agents.ts'
import {
  findNewestHandover,
  type Handover,
  type HandoverTarget,
  type HandoverWords,
  insertHandover,
  isSameHandover,
  newHandover,
} from './handovers.ts'

type Deps = Pick<InboxDeps, 'db' | 'vault' | 'clock'>

/** A conversation as it is once it was handed on, and what was said with it. */
export interface HandedOn {
  conversation: Conversation
  /** Null when nothing was said. */
  handover: Handover | null
  /** Whether an agent had handed it on so before, and its reply was lost. */
  isRepeat: boolean
}

export interface ToAgent {
  conversationId: string
  /** The key of the agent that goes on. */
  keyId: string
  words: HandoverWords | null
  urgency?: Urgency
}

/**
 * Hands a conversation to an agent: a member does with any, an agent with its own. Throws 404 outside the scope, 403 while
 * agents are stopped, 400 when it would be itself, 409 when the key cannot own it or the calling agent does not.
 */
export function handToAgent(deps: Deps, scope: Scope, actor: Actor, ask: ToAgent): Promise<HandedOn> {
  return changeLocked(deps, scope, ask.conversationId, async (tx, keyring, before, isStopped, now) => {
    const isRepeat = actor.type === 'agent' && (await wasHanded(tx, keyring, scope, before, actor.id, ask))
    if (isRepeat) return { change: { conversation: before, events: [] }, handover: null, actor, isRepeat }
    if (actor.type === 'agent') refuseUnlessOwner(before, actor.id)
    if (ask.keyId === actor.id) throw invalid('keyId', "must be another agent's key")
    if (isStopped) throw agentsStopped()
    if (!(await agentCanOwn(tx, scope.workspaceId, ask.keyId, before.connectionId, now))) throw keyCannotOwn()
    const handover = await say(tx, keyring, scope, before, { type: 'agent', keyId: ask.keyId }, ask, actor, now)
    return { change: changeOwner(before, agent(ask.keyId), actor, now, handover?.id), handover, actor }
  })
}

/** Whether the agent has handed it to that one in these words already, which has it still. */
async function wasHanded(
  tx: Tx,
  keyring: Keyring,
  { workspaceId }: Scope,
  { id, owner }: Conversation,
  fromKeyId: string,
  { keyId, words, urgency = 'normal' }: ToAgent,
): Promise<boolean> {
  if (words === null || keyIdOf(owner) !== keyId || keyId === fromKeyId) return false
  const newest = await findNewestHandover({ sql: tx, keyring, workspaceId }, id)
  return newest !== null && isSameHandover(newest, { keyId: fromKeyId, to: { type: 'agent', keyId }, urgency, words })
}

export interface Offer {
  conversationId: string
  words: HandoverWords | null
}

/**
 * Offers agents what people have: whichever takes it first has it. Throws 404 outside the scope, 403 while agents are
 * stopped, 409 `OWNER_MISMATCH` when an agent has it.
 */
export function offerToAgents(deps: Deps, scope: Scope, actor: Actor, offer: Offer): Promise<HandedOn> {
  return changeLocked(deps, scope, offer.conversationId, async (tx, keyring, before, isStopped, now) => {
    if (before.owner.type === 'agent') throw agentHasIt(before)
    if (isStopped) throw agentsStopped()
    const handover = await say(tx, keyring, scope, before, { type: 'agents' }, offer, actor, now)
    const assignedTo = releasedBy(before.assignedTo, actor)
    const isOffered = !before.held && before.handover === null && handover === null && assignedTo === before.assignedTo
    const conversation = isOffered ? before : touched({ ...before, held: false, handover: null, assignedTo }, now)
    return { change: { conversation, events: [] }, handover, actor }
  })
}

/**
 * Takes for an agent what people do not have: what was offered, or what nobody has looked at yet. What is its own already
 * stays so. Throws 404 outside the scope, 403 while agents are stopped, 409 `HELD_BY_PEOPLE` or `OWNER_MISMATCH` otherwise.
 */
export async function takeOffered(deps: Deps, scope: Scope, keyId: string, id: string): Promise<Conversation> {
  const actor: Actor = { type: 'agent', id: keyId }
  const { conversation } = await changeLocked(deps, scope, id, async (tx, _keyring, before, isStopped, now) => {
    const refusal = refusalToTake(before, keyId, 'offered_only', 'when_handed')
    if (refusal === 'held_by_people') throw heldByPeople(before, 'HELD_BY_PEOPLE')
    if (refusal === 'of_another_agent') throw agentHasIt(before)
    const change = changeOwner(before, agent(keyId), actor, now)
    if (change.conversation === before) return { change, handover: null, actor }
    if (isStopped) throw agentsStopped()
    if (!(await agentCanOwn(tx, scope.workspaceId, keyId, before.connectionId, now))) throw keyCannotOwn()
    // Whoever takes it knows how it stands.
    const taken = { ...change.conversation, inbound: { ...before.inbound, seen: before.inbound.newest } }
    return { change: { ...change, conversation: taken }, handover: null, actor }
  })
  return conversation
}

/** Refuses an agent that would hand on what is not its own. */
export function refuseUnlessOwner(conversation: Conversation, keyId: string): void {
  if (keyIdOf(conversation.owner) === keyId) return
  throw conversation.held ? heldByPeople(conversation, 'HELD_BY_PEOPLE') : notYours(conversation)
}

interface Planned {
  change: ConversationChange
  handover: Handover | null
  actor: Actor
  isRepeat?: boolean
}

type Plan = (tx: Tx, keyring: Keyring, before: Conversation, isStopped: boolean, now: Date) => Promise<Planned>

async function changeLocked(deps: Deps, scope: Scope, id: string, plan: Plan): Promise<HandedOn> {
  const { workspaceId } = scope
  return inWorkspace(deps, workspaceId, async (work) => {
    const { tx, keyring, now } = work
    const { isStopped } = await readAgentRules(tx, workspaceId)
    const before = await lockConversation(tx, keyring, scope, id)
    if (before === undefined) throw conversationNotFound()
    const { change, handover, actor, isRepeat = false } = await plan(tx, keyring, before, isStopped, now)
    // What was said is part of the conversation that the team sees.
    const conversation = handover === null ? change.conversation : touched(change.conversation, now)
    await commitChange({ tx, keyring, workspaceId, now }, before, { ...change, conversation }, { actor, reason: null })
    return { conversation, handover, isRepeat }
  })
}

async function say(
  tx: Tx,
  keyring: Keyring,
  { workspaceId }: Scope,
  before: Conversation,
  to: HandoverTarget,
  { words, urgency = 'normal' }: { words: HandoverWords | null; urgency?: Urgency },
  actor: Actor,
  now: Date,
): Promise<Handover | null> {
  if (words === null) return null
  const handover = newHandover({ ...words, from: before.owner, to, urgency, actor }, now)
  await insertHandover({ tx, keyring, workspaceId }, before.id, handover)
  return handover
}
