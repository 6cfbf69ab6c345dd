import {
  infiniteQueryOptions,
  keepPreviousData,
  type QueryClient,
  queryOptions,
  useInfiniteQuery,
  useQuery,
} from '@tanstack/react-query'
import { api, type Schemas, unwrap } from '../api/client.ts'
import type { paths } from '../api/schema.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/leads'
export const pageSize = 100
const cardsPerPage = 50

/** Events may omit labels, which are then unchanged. */
export type Lead = Schemas['LeadDetail'] & Partial<Pick<Schemas['LabelledLead'], 'labelIds'>>
export type Priority = 'low' | 'medium' | 'high' | 'urgent'
export type Source = 'website' | 'chat_app' | 'phone' | 'email' | 'referral' | 'social' | 'ads' | 'event' | 'other'
export type Platform = 'meta' | 'google' | 'tiktok' | 'linkedin' | 'chatgpt' | 'x' | 'other'

export interface LeadQuery {
  search?: string
  status?: string
  priority?: Priority
  source?: Source
  adPlatform?: Platform
  assignedTo?: string
  createdFrom?: string
  createdTo?: string
  updatedFrom?: string
  updatedTo?: string
  importId?: string
  labels?: string
  withoutLabels?: string
  /** Conditions on any column in the syntax of the server. */
  where?: string
  match?: 'all' | 'any'
  sortBy?: string
  sortOrder?: 'asc' | 'desc'
  sortLanguage?: 'en' | 'es' | 'pt'
}

export type LeadPage = Omit<Awaited<ReturnType<typeof readLeads>>, 'leads'> & { leads: Lead[] }
export type NewLead = Parameters<typeof createLead>[1]
export type LeadChanges = Parameters<typeof patchLead>[2]
export type BulkAction = Omit<Parameters<typeof bulkChange>[1], 'ids'>
export type BoardHead = Awaited<ReturnType<typeof readBoard>>[number]
export type Duplicate = Awaited<ReturnType<typeof checkDuplicates>>[number]

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

function readLeads(
  workspaceId: string,
  query: LeadQuery & { limit: number; page?: number; cursor?: string },
  signal?: AbortSignal,
) {
  return unwrap(api.GET(path, { params: { path: { workspaceId }, query }, signal: signal ?? null }))
}

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
    queryFn: ({ pageParam, signal }) =>
      readLeads(workspaceId, { ...query, limit: cardsPerPage, ...(pageParam !== '' && { cursor: pageParam }) }, signal),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })

/** Filters of the API. */
export type LeadFilters = NonNullable<paths[typeof path]['get']['parameters']['query']>

export function useLeadCount(workspaceId: string, filters: LeadFilters) {
  return useQuery({
    queryKey: [...leadsKey(workspaceId), 'count', filters],
    queryFn: async () =>
      (await unwrap(api.GET(path, { params: { path: { workspaceId }, query: { ...filters, limit: 1 } } }))).total,
  })
}

async function readBoard(workspaceId: string, query: LeadQuery) {
  const { status: _, search: __, sortBy: ___, sortOrder: ____, sortLanguage: _____, ...rest } = query
  return (await unwrap(api.GET(`${path}/board`, { params: { path: { workspaceId }, query: rest } }))).columns
}

export function useBoard(workspaceId: string, query: LeadQuery) {
  return useQuery({
    queryKey: [...leadBoardsKey(workspaceId), query],
    queryFn: () => readBoard(workspaceId, query),
    placeholderData: keepPreviousData,
  })
}

export const leadOptions = (workspaceId: string, id: string) =>
  queryOptions({
    queryKey: leadKey(workspaceId, id),
    queryFn: async (): Promise<Lead> =>
      (await unwrap(api.GET(`${path}/{identifier}`, { params: { path: { workspaceId, identifier: id } } }))).lead,
  })

export function useLead(workspaceId: string, id: string, known?: Lead) {
  return useQuery({ ...leadOptions(workspaceId, id), ...(known !== undefined && { placeholderData: known }) })
}

export function useHistory(workspaceId: string, id: string) {
  return useQuery({
    queryKey: historyKey(workspaceId, id),
    queryFn: async () =>
      (await unwrap(api.GET(`${path}/{identifier}/history`, { params: { path: { workspaceId, identifier: id } } })))
        .history,
  })
}

export function useConversations(workspaceId: string, id: string, phone: string | null) {
  return useQuery({
    queryKey: [...leadKey(workspaceId, id), 'conversations', phone],
    queryFn: async () =>
      (
        await unwrap(
          api.GET(`${path}/{identifier}/conversations`, { params: { path: { workspaceId, identifier: id } } }),
        )
      ).conversations,
  })
}

export function useDuplicates(workspaceId: string, { id, phone, email }: Lead) {
  return useQuery({
    queryKey: [...leadKey(workspaceId, id), 'duplicates', phone, email],
    queryFn: async () =>
      (await unwrap(api.GET(`${path}/{identifier}/duplicates`, { params: { path: { workspaceId, identifier: id } } })))
        .duplicates,
  })
}

async function checkDuplicates(workspaceId: string, who: { phone?: string; email?: string }) {
  return (await unwrap(api.POST(`${path}/check`, { params: { path: { workspaceId } }, body: who }))).duplicates
}

/** Finds leads that already have this phone or e-mail, while a lead is being entered. */
export function useDuplicateCheck(workspaceId: string, who: { phone?: string; email?: string }) {
  return useQuery({
    queryKey: [...leadsKey(workspaceId), 'check', who],
    queryFn: () => checkDuplicates(workspaceId, who),
    enabled: Object.keys(who).length > 0,
    staleTime: 5000,
    gcTime: 10_000,
  })
}

export function useTrash(workspaceId: string) {
  return useInfiniteQuery({
    queryKey: [...leadsKey(workspaceId), 'trash'],
    queryFn: ({ pageParam }) =>
      unwrap(
        api.GET(`${path}/trash`, {
          params: { path: { workspaceId }, query: { limit: 100, ...(pageParam !== '' && { cursor: pageParam }) } },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })
}

export async function createLead(
  workspaceId: string,
  lead: NonNullable<Parameters<typeof postLead>[1]>,
): Promise<Lead> {
  return (await postLead(workspaceId, lead)).lead
}

const postLead = (
  workspaceId: string,
  lead: Partial<Omit<Lead, 'customFields' | 'labelIds'>> & { firstName: string },
) => unwrap(api.POST(path, { params: { path: { workspaceId } }, body: lead }))

export async function patchLead(
  workspaceId: string,
  identifier: string,
  changes: Partial<Omit<Lead, 'customFields' | 'customFieldValues' | 'labelIds'>> & {
    customFieldValues?: Record<string, string | boolean | null>
  },
): Promise<Lead> {
  return (
    await unwrap(api.PATCH(`${path}/{identifier}`, { params: { path: { workspaceId, identifier } }, body: changes }))
  ).lead
}

export function bulkChange(
  workspaceId: string,
  requested: {
    ids: string[]
    changes?: Partial<Pick<Lead, 'status' | 'priority' | 'source' | 'assignedTo'>>
    delete?: true
    restore?: true
  },
) {
  return unwrap(api.POST(`${path}/bulk-change`, { params: { path: { workspaceId } }, body: requested }))
}

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
