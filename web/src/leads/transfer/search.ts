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

/** The filters of the list of leads that an address carries; the service judges their values. */
export function readFilters(search: Record<string, unknown>): LeadFilters {
  const set = filterNames.flatMap((name) => {
    const value = search[name]
    return typeof value === 'string' && value !== '' ? [[name, value]] : []
  })
  return Object.fromEntries(set) as LeadFilters
}

/** Which import is open. */
export function readImportSearch({ id }: Record<string, unknown>): { id?: string } {
  return typeof id === 'string' && id !== '' ? { id } : {}
}
