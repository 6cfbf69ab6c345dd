/** Who made a change: an API key (`agent`), a member (`user`), a team token, a public form, or the service itself. */
export type Actor = { type: 'agent' | 'user' | 'token' | 'form'; id: string } | { type: 'system'; id: null }

/** The member or token that acts; null for everybody else. The audit log tells of what these do. */
export function personOf({ type, id }: Actor): { type: 'user' | 'token'; id: string } | null {
  return type === 'user' || type === 'token' ? { type, id } : null
}

export const systemActor: Actor = { type: 'system', id: null }
