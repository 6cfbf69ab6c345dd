import type { Actor } from '../../workspaces/actor.ts'
import type { TakingBack } from '../../workspaces/schema.ts'

/** Who answers a conversation: people, or the agent behind one API key. */
export type Owner = { type: 'human' } | { type: 'agent'; keyId: string }

export const human: Owner = { type: 'human' }

export const agent = (keyId: string): Owner => ({ type: 'agent', keyId })

export function isSameOwner(a: Owner, b: Owner): boolean {
  return keyIdOf(a) === keyIdOf(b)
}

/** The owning key's id; null for people. */
export function keyIdOf(owner: Owner): string | null {
  return owner.type === 'human' ? null : owner.keyId
}

/** Whose a key's conversations are; people's without one. */
export const ownerOfKey = (keyId: string | null): Owner => (keyId === null ? human : agent(keyId))

/** `human` or `agent:<api_key_id>`. */
export function writeOwner(owner: Owner): string {
  return owner.type === 'human' ? 'human' : `agent:${owner.keyId}`
}

/** Reads what `writeOwner` writes; null for any other text. */
export function parseOwner(text: string): Owner | null {
  if (text === 'human') return human
  const keyId = /^agent:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i.exec(text)?.[1]
  return keyId === undefined ? null : agent(keyId.toLowerCase())
}

/** What of a key decides whether it may own a conversation. */
export interface AgentKey {
  id: string
  scopes: readonly string[]
  /** Empty means every connection. */
  connectionIds: readonly string[]
  expiresAt: Date | null
  revokedAt: Date | null
  /** Whether customers who write for the first time go to it. */
  answersNew: boolean
  createdAt: Date
}

/** Whether the key can own conversations of the connection at this moment. */
export function canKeyOwn(key: AgentKey, connectionId: string, now: Date): boolean {
  const isActive = key.revokedAt === null && (key.expiresAt === null || key.expiresAt > now)
  const allows = key.connectionIds.length === 0 || key.connectionIds.includes(connectionId)
  return isActive && allows && key.scopes.includes('inbox.write')
}

/**
 * The owner of a new conversation: the oldest key that can own it and answers new ones; people when there is none or
 * agents are stopped.
 */
export function firstOwner(keys: readonly AgentKey[], connectionId: string, agentsStopped: boolean, now: Date): Owner {
  if (agentsStopped) return human
  const [oldest] = keys
    .filter((key) => key.answersNew && canKeyOwn(key, connectionId, now))
    .sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime() || (a.id < b.id ? -1 : 1))
  return oldest === undefined ? human : agent(oldest.id)
}

/** A key takes a conversation for itself or gives it to people; members give it to anyone. */
export function canSetOwner(actor: Actor, owner: Owner): boolean {
  return actor.type !== 'agent' || owner.type === 'human' || owner.keyId === actor.id
}

// Pure rules of who may have a conversation next: what people have taken, agents leave alone until it is handed over.

export const urgencies = ['low', 'normal', 'high'] as const
export type Urgency = (typeof urgencies)[number]

/** What lists show of a hand-over to people that nobody has answered yet. */
export interface OpenHandover {
  id: string
  urgency: Urgency
  /** The first 200 characters; null when none was given. */
  reason: string | null
  at: string
}

/** What of a conversation says who has it. */
interface OwnerState {
  owner: Owner
  held: boolean
}

/** Whether people have it, once an owner was set. What comes from an agent they have, whoever gave it to them. */
export function isLockedAfter({ owner: from, held }: OwnerState, owner: Owner, actor: Actor): boolean {
  if (owner.type === 'agent') return false
  return held || from.type === 'agent' || isPerson(actor)
}

const isPerson = ({ type }: Actor): boolean => type === 'user' || type === 'token'

/**
 * Whom it is assigned to, once an owner was set: a member who takes what is nobody's has it, and one who gives an agent
 * what was theirs has it no longer. What was given to somebody stays theirs, whoever answers.
 */
export function assigneeAfter(assignedTo: string | null, owner: Owner, actor: Actor): string | null {
  if (actor.type !== 'user') return assignedTo
  return owner.type === 'human' ? (assignedTo ?? actor.id) : assigneeAfterRelease(assignedTo, actor)
}

/** Whom it is assigned to, once somebody has offered it to agents. */
export const assigneeAfterRelease = (assignedTo: string | null, actor: Actor): string | null =>
  assignedTo === actor.id ? null : assignedTo

/** A person has written in it, or it was given to one: it is theirs, unless an agent owns it still. */
export const lockToPeople = <C extends OwnerState>(conversation: C): C =>
  conversation.owner.type === 'human' ? { ...conversation, held: true } : conversation

/** Why an agent may not take a conversation for itself; null when it may, or has it. */
export function takeRefusal(
  { owner, held }: OwnerState,
  keyId: string,
  takes: 'from_agents_too' | 'offered_only',
  takingBack: TakingBack,
): 'held_by_people' | 'of_another_agent' | null {
  if (owner.type === 'agent') {
    return owner.keyId === keyId || takes === 'from_agents_too' ? null : 'of_another_agent'
  }
  return held && (takes === 'offered_only' || takingBack === 'when_handed') ? 'held_by_people' : null
}
