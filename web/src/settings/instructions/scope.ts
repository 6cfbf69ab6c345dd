import type { Scope } from '../../data/team/instructions.ts'

/** Search parameters of the section: whose instructions it shows; those for every agent without any. */
export interface ScopeSearch {
  key?: string
  connection?: string
}

export function readScope({ key, connection }: Record<string, unknown>): ScopeSearch {
  if (typeof key === 'string' && key !== '') return { key }
  return typeof connection === 'string' && connection !== '' ? { connection } : {}
}

export const scopeIn = ({ key = '', connection = '' }: ScopeSearch): Scope => ({
  keyId: key || null,
  connectionId: connection || null,
})

/** Identifies a scope in a list: `key:<id>`, `connection:<id>`, or `every`. */
export function scopeValue({ keyId, connectionId }: Scope): string {
  if (keyId !== null) return `key:${keyId}`
  return connectionId === null ? 'every' : `connection:${connectionId}`
}

export function searchOf(value: string): ScopeSearch {
  const id = value.slice(value.indexOf(':') + 1)
  if (value.startsWith('key:')) return { key: id }
  return value.startsWith('connection:') ? { connection: id } : {}
}
