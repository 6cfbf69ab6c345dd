import type { Actor } from '../../workspace/actor.ts'
import type { TakingBack } from '../../workspace/schema.ts'
import type { Owner } from './owner.ts'

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
interface Holding {
  owner: Owner
  held: boolean
}

/** Whether people have it, once an owner was set. What comes from an agent they have, whoever gave it to them. */
export function heldAfter({ owner: from, held }: Holding, owner: Owner, actor: Actor): boolean {
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
  return owner.type === 'human' ? (assignedTo ?? actor.id) : releasedBy(assignedTo, actor)
}

/** Whom it is assigned to, once somebody has offered it to agents. */
export const releasedBy = (assignedTo: string | null, actor: Actor): string | null =>
  assignedTo === actor.id ? null : assignedTo

/** A person has written in it, or it was given to one: it is theirs, unless an agent owns it still. */
export const heldByPerson = <C extends Holding>(conversation: C): C =>
  conversation.owner.type === 'human' ? { ...conversation, held: true } : conversation

/** Why an agent may not take a conversation for itself; null when it may, or has it. */
export function refusalToTake(
  { owner, held }: Holding,
  keyId: string,
  takes: 'from_agents_too' | 'offered_only',
  takingBack: TakingBack,
): 'held_by_people' | 'of_another_agent' | null {
  if (owner.type === 'agent') {
    return owner.keyId === keyId || takes === 'from_agents_too' ? null : 'of_another_agent'
  }
  return held && (takes === 'offered_only' || takingBack === 'when_handed') ? 'held_by_people' : null
}
