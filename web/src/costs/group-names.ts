import { useConnections } from '../data/connections.ts'
import { usePeople } from '../data/people.ts'
import type { CostGrouping } from '../data/team/costs.ts'
import { language, t } from '../text/index.ts'

type CategoryName = keyof typeof t.costs.categories

/** Returns the name of a category of the platform. */
export function nameOfCategory(category: string | null): string {
  const names: Record<string, string> = t.costs.categories
  return names[(category ?? 'unknown') satisfies string as CategoryName] ?? t.costs.categories.unknown
}

/** Returns the names of groups of costs; a placeholder for what is unknown or none. */
export function useCostNames(workspaceId: string): (by: CostGrouping, key: string | null) => string {
  const people = usePeople(workspaceId)
  const { data: connections = [] } = useConnections(workspaceId)
  const countries = new Intl.DisplayNames(language, { type: 'region' })
  return (by, key) => {
    const none = t.costs.groups.none
    if (by === 'category') return nameOfCategory(key)
    if (key === null) return none[by]
    if (by === 'template') return key
    if (by === 'country') return /^[A-Z]{2}$/.test(key) ? (countries.of(key) ?? key) : key
    if (by === 'connection') return connections.find(({ id }) => id === key)?.name ?? t.common.unknown
    return people.nameOf(key.split(':')[1] ?? null) ?? none.sender
  }
}
