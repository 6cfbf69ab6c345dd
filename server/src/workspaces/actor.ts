/**
 * The author of a change: an API key (`agent`), member (`user`), team token, public form, or the service itself, with the
 * automation rule or the broadcast by which it acts; null without one.
 */
export type Actor = { type: 'agent' | 'user' | 'token' | 'form'; id: string } | { type: 'system'; id: string | null }

/** Returns the actor if it is a member or token, whose changes the audit log records; null otherwise. */
export function auditedActorOf({ type, id }: Actor): { type: 'user' | 'token'; id: string } | null {
  return type === 'user' || type === 'token' ? { type, id } : null
}

export const systemActor: Actor = { type: 'system', id: null }
