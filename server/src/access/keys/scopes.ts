/** What a key may be allowed to do. The set is closed: a scope that is not here grants nothing. */
export const scopes = ['leads.read', 'leads.write', 'leads.delete', 'leads.bulk', 'inbox.read', 'inbox.write'] as const

export type Scope = (typeof scopes)[number]
export type LeadsScope = Extract<Scope, `leads.${string}`>
export type InboxScope = Extract<Scope, `inbox.${string}`>

/** What most keys are for, and the least that each takes. Only agents that answer get customers who write first. */
export const purposes = {
  answering: {
    scopes: ['leads.read', 'leads.write', 'inbox.read', 'inbox.write'],
    answersNewConversations: true,
  },
  syncing: { scopes: ['leads.read', 'leads.write', 'leads.bulk'], answersNewConversations: false },
  reading: { scopes: ['leads.read', 'inbox.read'], answersNewConversations: false },
} as const satisfies Record<string, { scopes: readonly Scope[]; answersNewConversations: boolean }>

export type Purpose = keyof typeof purposes

export const isPurpose = (text: string): text is Purpose => Object.hasOwn(purposes, text)

export function isScope(text: string): text is Scope {
  return (scopes as readonly string[]).includes(text)
}
