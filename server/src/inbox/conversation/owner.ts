import type { Actor } from '../../workspaces/actor.ts'
import type { ReclaimPolicy } from '../../workspaces/schema.ts'

/** Who answers a conversation: people, or the agent of one API key. */
export type Owner = { type: 'human' } | { type: 'agent'; keyId: string }

export const human: Owner = { type: 'human' }

export const agent = (keyId: string): Owner => ({ type: 'agent', keyId })

export function isSameOwner(a: Owner, b: Owner): boolean {
  return keyIdOf(a) === keyIdOf(b)
}

/** Returns the owning key's id; null for people. */
export function keyIdOf(owner: Owner): string | null {
  return owner.type === 'human' ? null : owner.keyId
}

/** Returns the owner for a key id; people for null. */
export const ownerOfKey = (keyId: string | null): Owner => (keyId === null ? human : agent(keyId))

/** Returns `human` or `agent:<api_key_id>`. */
export function writeOwner(owner: Owner): string {
  return owner.type === 'human' ? 'human' : `agent:${owner.keyId}`
}

/** Parses the output of `writeOwner`; null for any other text. */
export function parseOwner(text: string): Owner | null {
  if (text === 'human') return human
  const keyId = /^agent:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i.exec(text)?.[1]
  return keyId === undefined ? null : agent(keyId.toLowerCase())
}

/** Fields of a key that decide whether it can own a conversation. */
export interface AgentKey {
  id: string
  scopes: readonly string[]
  /** Empty means every connection. */
  connectionIds: readonly string[]
  expiresAt: Date | null
  revokedAt: Date | null
  /** Whether it becomes the owner of new conversations. */
  answersNew: boolean
  createdAt: Date
  /** How many open conversations it has at most, where the workspace routes; null: no limit. */
  capacity?: number | null
}

/** Returns whether the key can own conversations of the connection now. */
export function canKeyOwn(key: AgentKey, connectionId: string, now: Date): boolean {
  const isActive = key.revokedAt === null && (key.expiresAt === null || key.expiresAt > now)
  const allows = key.connectionIds.length === 0 || key.connectionIds.includes(connectionId)
  return isActive && allows && key.scopes.includes('inbox.write')
}

/**
 * Returns the owner of a new conversation: the oldest key that can own it and answers new ones; people if there is none
 * or agents are stopped.
 */
export function firstOwner(keys: readonly AgentKey[], connectionId: string, agentsStopped: boolean, now: Date): Owner {
  if (agentsStopped) return human
  const [oldest] = keys
    .filter((key) => key.answersNew && canKeyOwn(key, connectionId, now))
    .sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime() || (a.id < b.id ? -1 : 1))
  return oldest === undefined ? human : agent(oldest.id)
}

/** Returns whether the actor may set the owner: a key only itself or people, a member anyone. */
export function canSetOwner(actor: Actor, owner: Owner): boolean {
  return actor.type !== 'agent' || owner.type === 'human' || owner.keyId === actor.id
}

// Pure rules for the next owner: agents leave alone what people have taken over until it is handed over.

export const urgencies = ['low', 'normal', 'high'] as const
export type Urgency = (typeof urgencies)[number]

/** A handover to people that nobody has answered yet, for lists. */
export interface OpenHandover {
  id: string
  urgency: Urgency
  /** First 200 characters; null if none was given. */
  reason: string | null
  at: string
}

/** Fields that decide who has a conversation. */
interface OwnerState {
  owner: Owner
  held: boolean
}

/**
 * Returns whether the conversation is locked to people after setting the owner. One that goes from an agent to people
 * is always locked, no matter who made the change.
 */
export function isLockedAfter({ owner: from, held }: OwnerState, owner: Owner, actor: Actor): boolean {
  if (owner.type === 'agent') return false
  return held || from.type === 'agent' || isPerson(actor)
}

const isPerson = ({ type }: Actor): boolean => type === 'user' || type === 'token'

/**
 * Returns the assignee after setting the owner: a member who takes an unassigned conversation becomes the assignee; one
 * who gives an agent a conversation assigned to them no longer is. Any other assignee stays.
 */
export function assigneeAfter(assignedTo: string | null, owner: Owner, actor: Actor): string | null {
  if (actor.type !== 'user') return assignedTo
  return owner.type === 'human' ? (assignedTo ?? actor.id) : assigneeAfterRelease(assignedTo, actor)
}

/** Returns the assignee after an offer to agents. */
export const assigneeAfterRelease = (assignedTo: string | null, actor: Actor): string | null =>
  assignedTo === actor.id ? null : assignedTo

/** Locks the conversation to people after a person wrote or was assigned, unless an agent still owns it. */
export const lockToPeople = <C extends OwnerState>(conversation: C): C =>
  conversation.owner.type === 'human' ? { ...conversation, held: true } : conversation

/** Returns why an agent cannot take a conversation; null if it can or already owns it. */
export function takeRefusal(
  { owner, held }: OwnerState,
  keyId: string,
  takes: 'from_agents_too' | 'offered_only',
  takingBack: ReclaimPolicy,
): 'held_by_people' | 'of_another_agent' | null {
  if (owner.type === 'agent') {
    return owner.keyId === keyId || takes === 'from_agents_too' ? null : 'of_another_agent'
  }
  return held && (takes === 'offered_only' || takingBack === 'when_handed') ? 'held_by_people' : null
}
