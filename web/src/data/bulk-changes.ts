import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query'
import { api, type RequestOf, type Schemas } from '../api/client.ts'
import { refetchQueries } from '../api/refetch.ts'
import { useAfterEvents } from '../ui/use-after-events.ts'
import { leadsKey } from './leads.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/lead-bulk-changes'
const onePath = `${path}/{changeId}` as const

export type BulkChange = Schemas['LeadBulkChange']
/** The selected leads and the changes to them. */
export type NewBulkChange = RequestOf<typeof path, 'post'>
/** The changes without the selection. */
export type BulkChangeInput = Pick<NewBulkChange, 'changes' | 'labels' | 'sequenceId' | 'delete'>

const listKey = (workspaceId: string) => [workspaceId, 'bulk-changes'] as const
const ownKey = (workspaceId: string) => [workspaceId, 'bulk-changes-of-this-tab'] as const

/** Returns the newest bulk changes of the workspace. */
export function useBulkChanges(workspaceId: string) {
  return useQuery({
    queryKey: listKey(workspaceId),
    queryFn: async () => (await api.GET(path, { workspaceId })).bulkChanges,
  })
}

/** Returns the ids of bulk changes that were started or undone in this tab and not dismissed since. */
export function useOwnBulkChanges(workspaceId: string): readonly string[] {
  const { data } = useQuery({
    queryKey: ownKey(workspaceId),
    queryFn: (): readonly string[] => [],
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
  })
  return data ?? []
}

/** Returns actions on bulk changes. Each rejects with the error of the server. */
export function useBulkChangeActions(workspaceId: string) {
  const queries = useQueryClient()
  const kept = async (response: Promise<{ bulkChange: BulkChange }>) => {
    const { bulkChange } = await response
    cacheChange(queries, workspaceId, bulkChange)
    setOwn(queries, workspaceId, (mine) => [bulkChange.id, ...mine.filter((id) => id !== bulkChange.id)])
    void queries.invalidateQueries({ queryKey: leadsKey(workspaceId) })
    return bulkChange
  }
  return {
    submit: (input: NewBulkChange) => kept(api.POST(path, { workspaceId, body: input })),
    undo: (id: string) => kept(api.POST(`${onePath}/undo`, { workspaceId, changeId: id })),
    cancel: (id: string) => kept(api.POST(`${onePath}/cancel`, { workspaceId, changeId: id })),
    dismiss: (id: string) => setOwn(queries, workspaceId, (mine) => mine.filter((one) => one !== id)),
  }
}

function cacheChange(queries: QueryClient, workspaceId: string, one: BulkChange): void {
  queries.setQueryData<BulkChange[]>(listKey(workspaceId), (all) => [
    one,
    ...(all ?? []).filter(({ id }) => id !== one.id),
  ])
  void queries.invalidateQueries({ queryKey: listKey(workspaceId) })
}

const setOwn = (queries: QueryClient, workspaceId: string, change: (mine: readonly string[]) => readonly string[]) =>
  queries.setQueryData<readonly string[]>(ownKey(workspaceId), (mine) => change(mine ?? []))

const liveEvents = ['team.lead_bulk_change.changed'] as const
const pollMs = 300

/** Refetches bulk changes as they progress, at a limited rate. */
export function useLiveBulkChanges(workspaceId: string): void {
  const queries = useQueryClient()
  useAfterEvents(liveEvents, pollMs, () => void refetchQueries(queries, listKey(workspaceId)))
}
