import type { Actor } from '../../workspace/actor.ts'

/** Who answers a conversation: people, or the agent behind one API key. */
export type Owner = { type: 'human' } | { type: 'agent'; keyId: string }

export const human: Owner = { type: 'human' }

export const agent = (keyId: string): Owner => ({ type: 'agent', keyId })

export function sameOwner(a: Owner, b: Owner): boolean {
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
export function readOwner(text: string): Owner | null {
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
export function keyCanOwn(key: AgentKey, connectionId: string, now: Date): boolean {
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
    .filter((key) => key.answersNew && keyCanOwn(key, connectionId, now))
    .sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime() || (a.id < b.id ? -1 : 1))
  return oldest === undefined ? human : agent(oldest.id)
}

/** A key takes a conversation for itself or gives it to people; members give it to anyone. */
export function maySetOwner(actor: Actor, owner: Owner): boolean {
  return actor.type !== 'agent' || owner.type === 'human' || owner.keyId === actor.id
}
