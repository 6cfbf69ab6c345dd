import type { Scope } from './queries.ts'

export const allScopes: readonly Scope[] = [
  'leads.read',
  'leads.write',
  'leads.delete',
  'leads.bulk',
  'inbox.read',
  'inbox.write',
]

export type PresetName = 'salesAgent' | 'readOnlyAgent' | 'leadsOnly'

/** What most keys are for; the boxes below them say what each takes. */
export const presets: Record<PresetName, { scopes: readonly Scope[]; phoneVisibility: 'full' | 'masked' }> = {
  salesAgent: { scopes: ['leads.read', 'leads.write', 'inbox.read', 'inbox.write'], phoneVisibility: 'full' },
  readOnlyAgent: { scopes: ['leads.read', 'inbox.read'], phoneVisibility: 'masked' },
  leadsOnly: { scopes: ['leads.read', 'leads.write', 'leads.bulk'], phoneVisibility: 'full' },
}
