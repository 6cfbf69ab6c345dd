/** Who made a change: an API key (`agent`), a member (`user`), a team token, a public form, or the service itself. */
export type Actor = { type: 'agent' | 'user' | 'token' | 'form'; id: string } | { type: 'system'; id: null }

export const systemActor: Actor = { type: 'system', id: null }
