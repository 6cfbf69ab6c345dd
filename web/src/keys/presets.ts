import { scopeValues } from '../api/schema.ts'
import type { Scope } from '../data/keys.ts'

export const allScopes: readonly Scope[] = scopeValues

export type PresetName = 'answering' | 'syncing' | 'reading'

interface Preset {
  scopes: readonly Scope[]
  phoneVisibility: 'full' | 'masked'
  answersNewConversations: boolean
}

/** Permissions of common kinds of keys. */
export const presets: Record<PresetName, Preset> = {
  answering: {
    scopes: ['leads.read', 'leads.write', 'inbox.read', 'inbox.write', 'knowledge.read'],
    phoneVisibility: 'full',
    answersNewConversations: true,
  },
  syncing: {
    scopes: ['leads.read', 'leads.write', 'leads.bulk'],
    phoneVisibility: 'full',
    answersNewConversations: false,
  },
  reading: { scopes: ['leads.read', 'inbox.read'], phoneVisibility: 'masked', answersNewConversations: false },
}

export const mayAnswer = (scopes: readonly Scope[]): boolean => scopes.includes('inbox.write')
