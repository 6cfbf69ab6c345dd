import type { InfiniteData, QueryClient } from '@tanstack/react-query'
import {
  type BoardHead,
  type Lead,
  type LeadPage,
  type LeadQuery,
  leadBoardsKey,
  leadKey,
  leadListsKey,
  pageSize,
} from './leads.ts'

type Change = (lead: Lead, query: LeadQuery) => Lead | null

/** Changes leads in all cached lists; null removes one from a list. */
export function changeLists(queries: QueryClient, workspaceId: string, change: Change): void {
  const lists = queries.getQueryCache().findAll({ queryKey: leadListsKey(workspaceId) })
  const tables = new Map<LeadQuery, { page: number; data: LeadPage }[]>()
  for (const { queryKey, state } of lists) {
    const query = queryKey[3] as LeadQuery
    if (state.data === undefined) continue
    if (queryKey[4] === 'page') {
      const key = [...tables.keys()].find((one) => JSON.stringify(one) === JSON.stringify(query)) ?? query
      tables.set(key, [...(tables.get(key) ?? []), { page: Number(queryKey[5]), data: state.data as LeadPage }])
    } else {
      const data = state.data as InfiniteData<LeadPage>
      const pages = data.pages.map((page) => changePage(page, query, change))
      if (pages.some((page, n) => page !== data.pages[n])) queries.setQueryData(queryKey, { ...data, pages })
    }
  }
  for (const [query, pages] of tables) changeTable(queries, workspaceId, query, pages, change)
}

export function changePage(page: LeadPage, query: LeadQuery, change: Change): LeadPage {
  const leads = page.leads.flatMap((lead) => change(lead, query) ?? [])
  const isSame = leads.length === page.leads.length && leads.every((lead, n) => lead === page.leads[n])
  return isSame ? page : { ...page, leads, total: page.total - (page.leads.length - leads.length) }
}

// A removed row is replaced by the first row of the next page, if that is cached.
function changeTable(
  queries: QueryClient,
  workspaceId: string,
  query: LeadQuery,
  found: { page: number; data: LeadPage }[],
  change: Change,
): void {
  const pages = found.toSorted((a, b) => a.page - b.page)
  const changed = pages.map(({ page, data }) => ({ page, data: changePage(data, query, change), before: data }))
  const removedCount = changed.reduce((sum, { data, before }) => sum + before.leads.length - data.leads.length, 0)
  changed.forEach((one, n) => {
    if (one.data === one.before && removedCount === 0) return
    const leads = [...one.data.leads]
    for (let next = n + 1; leads.length < pageSize; next++) {
      const after = changed[next]
      if (after?.page !== one.page + next - n) break
      const movedUp = after.data.leads.slice(0, pageSize - leads.length)
      after.data = { ...after.data, leads: after.data.leads.slice(movedUp.length) }
      leads.push(...movedUp)
    }
    const data = { ...one.data, leads, total: one.before.total - removedCount }
    queries.setQueryData([...leadListsKey(workspaceId), query, 'page', one.page], data)
  })
}

/** Updates a lead wherever it is shown. */
export function showLead(queries: QueryClient, workspaceId: string, lead: Lead): void {
  queries.setQueryData<Lead>(leadKey(workspaceId, lead.id), (before) => before && withLabels(lead, before))
  changeLists(queries, workspaceId, (one) => (one.id === lead.id ? withLabels(lead, one) : one))
}

// Neither events nor responses to changes contain labels.
const withLabels = (lead: Lead, { labelIds }: Lead): Lead =>
  lead.labelIds !== undefined || labelIds === undefined ? lead : { ...lead, labelIds }

export function hideLeads(queries: QueryClient, workspaceId: string, ids: ReadonlySet<string>): void {
  changeLists(queries, workspaceId, (one) => (ids.has(one.id) ? null : one))
}

/** Moves a card to the top of the column of its new status and updates the counts. */
export function moveCard(queries: QueryClient, workspaceId: string, lead: Lead, status: string): void {
  const moved = { ...lead, status, updatedAt: new Date().toISOString() }
  showLead(queries, workspaceId, moved)
  for (const { queryKey, state } of queries.getQueryCache().findAll({ queryKey: leadListsKey(workspaceId) })) {
    const query = queryKey[3] as LeadQuery
    const data = state.data as InfiniteData<LeadPage> | undefined
    if (queryKey[4] !== 'cards' || data === undefined) continue
    if (query.status !== lead.status && query.status !== status) continue
    const step = query.status === status ? 1 : -1
    const pages = data.pages.map((page, n) => {
      const others = page.leads.filter(({ id }) => id !== lead.id)
      return { ...page, leads: step === 1 && n === 0 ? [moved, ...others] : others, total: page.total + step }
    })
    queries.setQueryData(queryKey, { ...data, pages })
  }
  queries.setQueriesData<BoardHead[]>({ queryKey: leadBoardsKey(workspaceId) }, (heads) =>
    heads?.map((head) => adjustCounts(head, lead, status)),
  )
}

export function adjustCounts(head: BoardHead, lead: Lead, status: string): BoardHead {
  const step = head.status === status ? 1 : head.status === lead.status ? -1 : 0
  if (step === 0) return head
  return {
    ...head,
    count: head.count + step,
    estimatedValue: head.estimatedValue + step * (lead.estimatedValue ?? 0),
    actualValue: head.actualValue + step * (lead.actualValue ?? 0),
    value: head.value + step * (leadValue(lead) ?? 0),
  }
}

/** Returns a lead's value in the total of its column: the actual one, or the estimated one while unknown. */
export const leadValue = ({
  actualValue,
  estimatedValue,
}: Pick<Lead, 'actualValue' | 'estimatedValue'>): number | null => actualValue ?? estimatedValue
