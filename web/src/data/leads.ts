import {
  infiniteQueryOptions,
  keepPreviousData,
  type QueryClient,
  queryOptions,
  useInfiniteQuery,
  useQuery,
} from '@tanstack/react-query'
import { api, type ResponseOf, type Schemas } from '../api/client.ts'
import { pagedBy } from '../api/paged-by.ts'
import type { paths } from '../api/schema.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/leads'
const onePath = `${path}/{identifier}` as const
export const pageSize = 100
const cardsPerPage = 50

/** Events may omit labels, which are then unchanged. */
export type Lead = Schemas['LeadDetail'] & Partial<Pick<Schemas['LabelledLead'], 'labelIds'>>
export type Priority = Schemas['LeadPriority']
export type Source = Schemas['LeadSource']
export type Platform = Schemas['AdPlatform']

/** Filters of the API; `where` has conditions on any column in the syntax of the server. */
export type LeadFilters = NonNullable<paths[typeof path]['get']['parameters']['query']>
export type LeadQuery = Omit<LeadFilters, 'limit' | 'page' | 'cursor'>

export type LeadPage = Omit<ResponseOf<typeof path>, 'leads'> & { leads: Lead[] }
export type BoardHead = ResponseOf<`${typeof path}/board`>['columns'][number]
export type Duplicate = ResponseOf<`${typeof onePath}/duplicates`>['duplicates'][number]

export const leadsKey = (workspaceId: string) => [workspaceId, 'leads'] as const
/** All cached lists of leads: pages of tables and columns of boards. The query is the fourth part of the key. */
export const leadListsKey = (workspaceId: string) => [...leadsKey(workspaceId), 'list'] as const
export const leadBoardsKey = (workspaceId: string) => [...leadsKey(workspaceId), 'board'] as const
export const leadKey = (workspaceId: string, id: string) => [...leadsKey(workspaceId), 'one', id] as const
export const timelineKey = (workspaceId: string, id: string) => [...leadKey(workspaceId, id), 'timeline'] as const
export const historyKey = (workspaceId: string, id: string) => [...leadKey(workspaceId, id), 'history'] as const

/** Finds leads for a short list. */
export const findLeads = async (workspaceId: string, search: string, limit: number) =>
  (await readLeads(workspaceId, { search, limit })).leads

const readLeads = (
  workspaceId: string,
  query: Omit<LeadFilters, 'cursor'> & { cursor?: string | null },
  signal: AbortSignal | null = null,
) => api.GET(path, { workspaceId, query, signal })

/** Returns a page of a table by number, so that any part of a long list can be loaded directly. */
export const pageOptions = (workspaceId: string, query: LeadQuery, page: number) =>
  queryOptions({
    queryKey: [...leadListsKey(workspaceId), query, 'page', page],
    queryFn: ({ signal }) => readLeads(workspaceId, { ...query, limit: pageSize, page: page + 1 }, signal),
    gcTime: 120_000,
  })

export const cardsOptions = (workspaceId: string, query: LeadQuery) =>
  infiniteQueryOptions({
    queryKey: [...leadListsKey(workspaceId), query, 'cards'],
    queryFn: ({ pageParam: cursor, signal }) =>
      readLeads(workspaceId, { ...query, limit: cardsPerPage, cursor }, signal),
    ...pagedBy('nextCursor'),
  })

export function useLeadCount(workspaceId: string, filters: LeadFilters) {
  return useQuery({
    queryKey: [...leadsKey(workspaceId), 'count', filters],
    queryFn: async () => (await api.GET(path, { workspaceId, query: { ...filters, limit: 1 } })).total,
  })
}

export function useBoard(workspaceId: string, query: LeadQuery) {
  const { status: _, search: __, sortBy: ___, sortOrder: ____, sortLanguage: _____, ...rest } = query
  return useQuery({
    queryKey: [...leadBoardsKey(workspaceId), query],
    queryFn: async () => (await api.GET(`${path}/board`, { workspaceId, query: rest })).columns,
    placeholderData: keepPreviousData,
  })
}

export const leadOptions = (workspaceId: string, id: string) =>
  queryOptions({
    queryKey: leadKey(workspaceId, id),
    queryFn: async (): Promise<Lead> => (await api.GET(onePath, { workspaceId, identifier: id })).lead,
  })

export function useLead(workspaceId: string, id: string, known?: Lead) {
  return useQuery({ ...leadOptions(workspaceId, id), ...(known !== undefined && { placeholderData: known }) })
}

export function useHistory(workspaceId: string, id: string) {
  return useQuery({
    queryKey: historyKey(workspaceId, id),
    queryFn: async () => (await api.GET(`${onePath}/history`, { workspaceId, identifier: id })).history,
  })
}

export function useConversations(workspaceId: string, id: string, phone: string | null) {
  return useQuery({
    queryKey: [...leadKey(workspaceId, id), 'conversations', phone],
    queryFn: async () => (await api.GET(`${onePath}/conversations`, { workspaceId, identifier: id })).conversations,
  })
}

export function useDuplicates(workspaceId: string, { id, phone, email }: Lead) {
  return useQuery({
    queryKey: [...leadKey(workspaceId, id), 'duplicates', phone, email],
    queryFn: async () => (await api.GET(`${onePath}/duplicates`, { workspaceId, identifier: id })).duplicates,
  })
}

/** Finds leads that already have this phone or e-mail, while a lead is being entered. */
export function useDuplicateCheck(workspaceId: string, who: { phone?: string; email?: string }) {
  return useQuery({
    queryKey: [...leadsKey(workspaceId), 'check', who],
    queryFn: async () => (await api.POST(`${path}/check`, { workspaceId, body: who })).duplicates,
    enabled: Object.keys(who).length > 0,
    staleTime: 5000,
    gcTime: 10_000,
  })
}

export function useTrash(workspaceId: string) {
  return useInfiniteQuery({
    queryKey: [...leadsKey(workspaceId), 'trash'],
    queryFn: ({ pageParam: cursor }) => api.GET(`${path}/trash`, { workspaceId, query: { limit: 100, cursor } }),
    ...pagedBy('nextCursor'),
  })
}

export type NewLead = Partial<Omit<Lead, 'customFields' | 'labelIds'>> & { firstName: string }

export const createLead = async (workspaceId: string, body: NewLead): Promise<Lead> =>
  (await api.POST(path, { workspaceId, body })).lead

export type LeadChanges = Partial<Omit<Lead, 'customFields' | 'customFieldValues' | 'labelIds'>> & {
  customFieldValues?: Record<string, string | boolean | null>
}

export const patchLead = async (workspaceId: string, identifier: string, body: LeadChanges): Promise<Lead> =>
  (await api.PATCH(onePath, { workspaceId, identifier, body })).lead

export interface BulkAction {
  changes?: Partial<Pick<Lead, 'status' | 'priority' | 'source' | 'assignedTo'>>
  delete?: true
  restore?: true
}

export const bulkChange = (workspaceId: string, body: BulkAction & { ids: string[] }) =>
  api.POST(`${path}/bulk-change`, { workspaceId, body })

/** Returns the ids of the first leads of a list, at most `most`. */
export async function firstIds(queries: QueryClient, workspaceId: string, query: LeadQuery, most: number) {
  const ids: string[] = []
  for (let n = 0; ids.length < most; n++) {
    const { leads, total } = await queries.fetchQuery(pageOptions(workspaceId, query, n))
    ids.push(...leads.map(({ id }) => id))
    if (leads.length < pageSize || ids.length >= total) break
  }
  return ids.slice(0, most)
}
