import { keepPreviousData, type QueryClient, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { api, body, type Schemas } from '../api/client.ts'
import { findLeads, leadKey, leadsOf } from './leads.ts'
import { hideLeads } from './leads-cache.ts'

const team = '/api/team/v1/workspaces/{workspaceId}'
const mergePath = `${team}/leads/{identifier}/merge` as const

export type LeadMerge = Schemas['LeadMerge']
export type NewMerge = Schemas['NewLeadMerge']
export type MergePreview = Schemas['LeadMergePreview']
export type MergeDone = Schemas['LeadMergeDone']

/** The leads that a few words find, of which one is to be picked; none for no words. */
export function useFoundLeads(workspaceId: string, search: string, limit: number) {
  return useQuery({
    queryKey: [...leadsOf(workspaceId), 'pick', search],
    queryFn: () => findLeads(workspaceId, search, limit),
    enabled: search !== '',
    placeholderData: keepPreviousData,
  })
}

/** Both leads of a merge to be, and what would go from one to the other. */
export function useMergePreview(workspaceId: string, keptId: string, otherId: string) {
  return useQuery({
    queryKey: [...leadKey(workspaceId, keptId), 'merge', otherId],
    queryFn: () =>
      body(api.GET(mergePath, { params: { path: { workspaceId, identifier: keptId }, query: { otherId } } })),
    staleTime: 0,
  })
}

/** What was merged into a lead, and what it is found by since. */
export function useMerges(workspaceId: string, id: string) {
  return useQuery({
    queryKey: [...leadKey(workspaceId, id), 'merges'],
    queryFn: () =>
      body(api.GET(`${team}/leads/{identifier}/merges`, { params: { path: { workspaceId, identifier: id } } })),
  })
}

const refresh = (queries: QueryClient, workspaceId: string) =>
  queries.invalidateQueries({ queryKey: leadsOf(workspaceId) })

/** What is shown of the lead that is gone stays until whoever shows it has gone on: read again, it would be found no more. */
async function refreshWithout(queries: QueryClient, workspaceId: string, goneId: string): Promise<void> {
  const isOfGone = ({ queryKey }: { queryKey: readonly unknown[] }) => queryKey.includes(goneId)
  const queryKey = leadsOf(workspaceId)
  await queries.invalidateQueries({ queryKey, predicate: isOfGone, refetchType: 'none' })
  await queries.invalidateQueries({ queryKey, predicate: (query) => !isOfGone(query) })
}

export function useMergeLeads(workspaceId: string) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ keptId, ...merge }: NewMerge & { keptId: string }) =>
      body(api.POST(mergePath, { params: { path: { workspaceId, identifier: keptId } }, body: merge })),
    onSuccess: (_, { otherId }) => {
      hideLeads(queries, workspaceId, new Set([otherId]))
      void refreshWithout(queries, workspaceId, otherId)
    },
  })
}

export function useUndoMerge(workspaceId: string) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (mergeId: string) =>
      body(api.POST(`${team}/lead-merges/{mergeId}/undo`, { params: { path: { workspaceId, mergeId } } })),
    onSuccess: () => refresh(queries, workspaceId),
  })
}
