import { conversationStatusValues } from '../../api/schema.ts'
import { type ConversationFilter, type Status, type View, views } from '../../data/inbox/types.ts'
import type { ChangeSearch } from '../../ui/use-newest-search.ts'

/** The filter as the address carries it: what is not there is as usual. */
export interface InboxSearch {
  view?: View
  status?: Status | 'any'
  sort?: 'waiting'
  owner?: string
  assignedTo?: string
  connectionId?: string
  labelId?: string
  unread?: true
  unanswered?: true
  search?: string
}

export type FilterBy = ChangeSearch<InboxSearch>

/** An attribute of the place where a search shows what it has found. */
export const resultsAttribute = 'data-found-here'

export const statuses = conversationStatusValues

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Reads an address, leaving out what it cannot mean, so that an old or mistyped link shows a list all the same. */
export function readSearch(raw: Record<string, unknown>): InboxSearch {
  const text = (name: string) => (raw[name] === undefined ? '' : String(raw[name]))
  const isOn = (name: string) => text(name) === 'true'
  const isId = (value: string) => uuid.test(value)
  const [view, status, owner] = [text('view'), text('status'), text('owner')]
  const [assignedTo, connectionId, labelId] = [text('assignedTo'), text('connectionId'), text('labelId')]
  const search = text('search').trim().slice(0, 100)
  return {
    ...(isOneOf(views, view) && view !== 'all' && { view }),
    ...(isOneOf([...statuses, 'any'] as const, status) && status !== 'open' && { status }),
    ...(text('sort') === 'waiting' && { sort: 'waiting' as const }),
    ...((['human', 'agent'].includes(owner) || isId(owner.replace(/^agent:/, ''))) && { owner }),
    ...((['me', 'none'].includes(assignedTo) || isId(assignedTo)) && { assignedTo }),
    ...(isId(connectionId) && { connectionId }),
    ...(isId(labelId) && { labelId }),
    ...(isOn('unread') && { unread: true as const }),
    ...(isOn('unanswered') && { unanswered: true as const }),
    ...(search !== '' && { search }),
  }
}

export const filterOf = (search: InboxSearch): ConversationFilter => ({
  ...search,
  view: search.view ?? 'all',
  // A search looks through what is done as well, unless a status is asked for.
  status: search.status ?? (search.search === undefined ? 'open' : 'any'),
  sort: search.sort ?? 'recent',
})

/** The filter as a saved one keeps it: all of the address but what was searched for. */
export function queryOf({ search: _, ...kept }: InboxSearch): string {
  return new URLSearchParams(Object.entries(kept).map(([name, value]) => [name, String(value)])).toString()
}

export const searchOf = (query: string): InboxSearch => readSearch(Object.fromEntries(new URLSearchParams(query)))

/** Whether something narrows the view. */
export const isNarrowed = ({ view: _view, sort: _sort, ...rest }: InboxSearch): boolean => Object.keys(rest).length > 0

const isOneOf = <T extends string>(all: readonly T[], value: string): value is T => all.some((one) => one === value)
