/** What a key may be allowed to do. The set is closed: a scope that is not here grants nothing. */
export const scopes = ['leads.read', 'leads.write', 'leads.delete', 'leads.bulk', 'inbox.read', 'inbox.write'] as const

export type Scope = (typeof scopes)[number]
export type LeadsScope = Extract<Scope, `leads.${string}`>
export type InboxScope = Extract<Scope, `inbox.${string}`>

export function isScope(text: string): text is Scope {
  return (scopes as readonly string[]).includes(text)
}
