import { keepPreviousData, type QueryClient, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { ApiError } from '../api/api-error.ts'
import { api, type Schemas } from '../api/client.ts'
import { findLeads, type Lead, leadKey, leadOptions, leadsKey, useLead } from './leads.ts'
import { hideLeads } from './leads-cache.ts'

const team = '/api/team/v1/workspaces/{workspaceId}'
const mergePath = `${team}/leads/{identifier}/merge` as const

export type LeadMerge = Schemas['LeadMerge']
export type NewMerge = Schemas['NewLeadMerge']
export type MergePreview = Schemas['LeadMergePreview']
export type MergeResult = Schemas['LeadMergeDone']

/** Finds leads to choose from; returns none without a term. */
export function useLeadSearch(workspaceId: string, search: string, limit: number) {
  return useQuery({
    queryKey: [...leadsKey(workspaceId), 'pick', search],
    queryFn: () => findLeads(workspaceId, search, limit),
    enabled: search !== '',
    placeholderData: keepPreviousData,
  })
}

/** Returns the both leads of a merge, and the data that would move. */
export function useMergePreview(workspaceId: string, keptId: string, otherId: string) {
  return useQuery({
    queryKey: [...leadKey(workspaceId, keptId), 'merge', otherId],
    queryFn: () => api.GET(mergePath, { workspaceId, identifier: keptId, query: { otherId } }),
    staleTime: 0,
  })
}

/** Returns the leads merged into a lead, and the phones and e-mails that it is found by since. */
export function useMerges(workspaceId: string, id: string) {
  return useQuery({
    queryKey: [...leadKey(workspaceId, id), 'merges'],
    queryFn: () => api.GET(`${team}/leads/{identifier}/merges`, { workspaceId, identifier: id }),
  })
}

export interface ResolvedLead {
  lead: Lead | undefined
  /** The requested lead, if it was merged into this one; its name is null once it has been erased. */
  merged: { name: string | null } | null
  /** Whether the lead does not exist, not even as merged. */
  isDeleted: boolean
  error: Error | null
  retry(): void
}

/** Loads a lead by id; for a merged lead, the lead that it was merged into. */
export function useLeadOrMergeTarget(workspaceId: string, id: string, known?: Lead): ResolvedLead {
  const named = useLead(workspaceId, id, known)
  const isAway = isMissing(named.error)
  const into = useQuery({
    queryKey: [...leadKey(workspaceId, id), 'merged-into'],
    queryFn: () => api.GET(`${team}/leads/{identifier}/merged-into`, { workspaceId, identifier: id }),
    enabled: isAway,
  })
  const { leadId = '', name = null } = into.data ?? {}
  const kept = useQuery({ ...leadOptions(workspaceId, leadId), enabled: isAway && into.isSuccess })
  if (!isAway) return { lead: named.data, merged: null, isDeleted: false, ...stateOf(named) }
  if (!into.isSuccess) return { lead: undefined, merged: null, isDeleted: isMissing(into.error), ...stateOf(into) }
  return { lead: kept.data, merged: { name }, isDeleted: isMissing(kept.error), ...stateOf(kept) }
}

const stateOf = ({ error, refetch }: { error: Error | null; refetch(): unknown }) => ({
  error,
  retry: () => void refetch(),
})

const isMissing = (error: Error | null): boolean => error instanceof ApiError && error.status === 404

/** Keeps queries of the merged lead that are still shown: refetched, they would return 404. */
async function refreshWithout(queries: QueryClient, workspaceId: string, goneId: string): Promise<void> {
  const isOfGone = ({ queryKey }: { queryKey: readonly unknown[] }) => queryKey.includes(goneId)
  const queryKey = leadsKey(workspaceId)
  await queries.invalidateQueries({ queryKey, predicate: isOfGone, refetchType: 'none' })
  await queries.invalidateQueries({ queryKey, predicate: (query) => !isOfGone(query) })
}

export function useMergeLeads(workspaceId: string) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ keptId, ...merge }: NewMerge & { keptId: string }) =>
      api.POST(mergePath, { workspaceId, identifier: keptId, body: merge }),
    onSuccess: (_, { otherId }) => {
      hideLeads(queries, workspaceId, new Set([otherId]))
      void refreshWithout(queries, workspaceId, otherId)
    },
  })
}

export function useUndoMerge(workspaceId: string) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (mergeId: string) => api.POST(`${team}/lead-merges/{mergeId}/undo`, { workspaceId, mergeId }),
    onSuccess: () => queries.invalidateQueries({ queryKey: leadsKey(workspaceId) }),
  })
}
