import type { People } from '../../data/people.ts'
import { language, t } from '../../text/index.ts'
import { statusName } from '../../ui/format/lead-words.ts'
import type { FilterName, LeadAddress } from '../fields/address.ts'

type Own = 'import' | 'labels' | 'withoutLabels'

const titles: Record<Exclude<FilterName, Own>, keyof typeof t.leads.fields> = {
  status: 'status',
  priority: 'priority',
  source: 'source',
  platform: 'adPlatform',
  assignee: 'assignedTo',
  created: 'createdAt',
  updated: 'updatedAt',
}

export const titleOf = (name: FilterName): string =>
  name === 'import'
    ? t.leads.filters.fromImport
    : name === 'labels'
      ? t.views.labels.any
      : name === 'withoutLabels'
        ? t.views.labels.none
        : t.leads.fields[titles[name]]

const noLabels: ReadonlyMap<string, { name: string }> = new Map()

/** A filter as people say it: `Status is New or Qualified`. */
export function sentenceOf(name: FilterName, address: LeadAddress, people: People, labels = noLabels): string {
  const title = titleOf(name)
  const { filters } = t.leads
  if (name === 'import') return title
  if (name === 'labels' || name === 'withoutLabels') {
    const names = (address[name] ?? '').split(',').map((id) => labels.get(id)?.name ?? t.common.unknown)
    return t.views.labels.sentence(title, either(names))
  }
  if (name === 'created' || name === 'updated') {
    const [from, to] = [address[`${name}From`], address[`${name}To`]]
    if (from !== undefined && to !== undefined) return filters.between(title, dayText(from), dayText(to))
    if (from !== undefined) return filters.from(title, dayText(from))
    return filters.to(title, dayText(to ?? ''))
  }
  return filters.is(title, either(valuesOf(name, address, people)))
}

function valuesOf(
  name: Exclude<FilterName, 'created' | 'updated' | Own>,
  address: LeadAddress,
  people: People,
): string[] {
  const { priority, source, platform, status, assignee } = address
  if (name === 'status') return (status ?? '').split(',').map(statusName)
  if (name === 'priority') return priority === undefined ? [] : [t.lead.priorities[priority]]
  if (name === 'source') return source === undefined ? [] : [t.lead.sources[source]]
  if (name === 'platform') return platform === undefined ? [] : [t.leads.platforms[platform]]
  return [people.nameOf(assignee ?? null) ?? '']
}

const either = (words: readonly string[]): string =>
  new Intl.ListFormat(language, { type: 'disjunction' }).format(words)

const dayText = (day: string): string =>
  new Intl.DateTimeFormat(language, { day: 'numeric', month: 'short', year: 'numeric' }).format(
    new Date(`${day}T00:00`),
  )
