import { conversationStatusValues } from '../../api/schema.ts'
import { type ConversationFilter, priorities, views } from '../../data/inbox/types.ts'
import type { ChangeSearch } from '../../ui/use-newest-search.ts'

/** Query parameters of the filter; omitted ones have their default. */
export type InboxSearch = Partial<ConversationFilter>

/** Props of components that show and change the filter. */
export interface FilterProps {
  search: InboxSearch
  filterBy: ChangeSearch<InboxSearch>
}

/** Attribute of the element with search results. */
export const resultsAttribute = 'data-found-here'

export const statuses = conversationStatusValues
const sorts = ['waiting', 'due', 'priority'] as const

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Parses query parameters, dropping invalid ones, so that an old or mistyped link still shows a list. */
export function readSearch(raw: Record<string, unknown>): InboxSearch {
  const text = (name: string) => (raw[name] === undefined ? '' : String(raw[name]))
  const isOn = (name: string) => text(name) === 'true'
  const isId = (value: string) => uuid.test(value)
  const [view, status, owner] = [text('view'), text('status'), text('owner')]
  const [sort, priority] = [text('sort'), text('priority')]
  const [assignedTo, connectionId, labelId] = [text('assignedTo'), text('connectionId'), text('labelId')]
  const teamId = text('teamId')
  const search = text('search').trim().slice(0, 100)
  return {
    ...(isOneOf(views, view) && view !== 'all' && { view }),
    ...(isOneOf([...statuses, 'any'] as const, status) && status !== 'open' && { status }),
    ...(isOneOf(sorts, sort) && { sort }),
    ...((['human', 'agent'].includes(owner) || isId(owner.replace(/^agent:/, ''))) && { owner }),
    ...((['me', 'none'].includes(assignedTo) || isId(assignedTo)) && { assignedTo }),
    ...(isId(connectionId) && { connectionId }),
    ...((teamId === 'none' || isId(teamId)) && { teamId }),
    ...(isId(labelId) && { labelId }),
    ...(isOn('unread') && { unread: true }),
    ...(isOn('unanswered') && { unanswered: true }),
    ...(isOneOf(priorities, priority) && { priority }),
    ...(isOn('overdue') && { overdue: true }),
    ...(search !== '' && { search }),
  }
}

export const filterOf = (search: InboxSearch): ConversationFilter => ({
  ...search,
  view: search.view ?? 'all',
  // A search includes closed conversations unless a status is chosen.
  status: search.status ?? (search.search === undefined ? 'open' : 'any'),
  sort: search.sort ?? 'recent',
})

/** Returns the query of a saved filter: all parameters except the search. */
export function queryOf({ search: _, ...kept }: InboxSearch): string {
  return new URLSearchParams(Object.entries(kept).map(([name, value]) => [name, String(value)])).toString()
}

export const searchOf = (query: string): InboxSearch => readSearch(Object.fromEntries(new URLSearchParams(query)))

/** Returns whether any filter is active. */
export const isNarrowed = ({ view: _view, sort: _sort, ...rest }: InboxSearch): boolean => Object.keys(rest).length > 0

const isOneOf = <T extends string>(all: readonly T[], value: string): value is T => all.some((one) => one === value)
