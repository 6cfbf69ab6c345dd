import type { LeadFilters } from '../../data/leads.ts'

const filterNames = [
  'status',
  'priority',
  'source',
  'adPlatform',
  'assignedTo',
  'createdFrom',
  'createdTo',
  'updatedFrom',
  'updatedTo',
  'search',
  'importId',
  'labels',
  'withoutLabels',
  'where',
  'match',
] as const satisfies readonly (keyof LeadFilters)[]

/** Reads filters from the address; the server validates their values. */
export function readFilters(search: Record<string, unknown>): LeadFilters {
  const set = filterNames.flatMap((name) => {
    const value = search[name]
    return typeof value === 'string' && value !== '' ? [[name, value]] : []
  })
  return Object.fromEntries(set) as LeadFilters
}

/** Reads the open import from the address. */
export function readImportSearch({ id }: Record<string, unknown>): { id?: string } {
  return typeof id === 'string' && id !== '' ? { id } : {}
}
