import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import { api, type Schemas } from '../../api/client.ts'
import { type LiveEvent, useLive, useOnStreamOpen } from '../../api/live.ts'
import { pagedBy } from '../../api/paged-by.ts'
import { refetchedAfter, refetchQueries } from '../../api/refetch.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/sequences' as const
const onePath = `${path}/{sequenceId}` as const
const runsPath = '/api/team/v1/workspaces/{workspaceId}/sequence-runs' as const

export type Sequence = Schemas['Sequence']
export type SequenceDraft = Schemas['SequenceDraft']
export type SequenceStep = SequenceDraft['steps'][number]
export type SequenceRun = Schemas['SequenceRun']

const allKey = (workspaceId: string) => [workspaceId, 'sequences'] as const

/** Counts change while a page is open, by the worker. */
const refetchMs = 15_000

export function useSequences(workspaceId: string, { isLive = false } = {}) {
  return useQuery({
    queryKey: [...allKey(workspaceId), 'list'],
    queryFn: async () => (await api.GET(path, { workspaceId })).sequences,
    ...(isLive && { refetchInterval: refetchMs }),
  })
}

export function useSequenceCounts(workspaceId: string, sequenceId: string) {
  return useQuery({
    queryKey: [...allKey(workspaceId), sequenceId, 'counts'],
    queryFn: async () => (await api.GET(`${onePath}/counts`, { workspaceId, sequenceId })).counts,
    refetchInterval: refetchMs,
  })
}

export function useSequenceRuns(workspaceId: string, sequenceId: string, state: 'active' | 'ended' | null) {
  return useInfiniteQuery({
    queryKey: [...allKey(workspaceId), sequenceId, 'runs', state],
    queryFn: ({ pageParam: before }) =>
      api.GET(`${onePath}/runs`, { workspaceId, sequenceId, query: { state, before } }),
    ...pagedBy('before'),
  })
}

const ofLeadKey = (workspaceId: string, leadId: string) => [...allKey(workspaceId), 'lead', leadId] as const
const leadEvents = ['team.lead.changed', 'lead.updated']

/** Returns the sequences of a lead, kept fresh. */
export function useSequencesOfLead(workspaceId: string, leadId: string) {
  const queries = useQueryClient()
  const reload = useCallback(
    () => void refetchQueries(queries, ofLeadKey(workspaceId, leadId)),
    [queries, workspaceId, leadId],
  )
  const handleEvent = useCallback(
    ({ payload }: LiveEvent) => {
      if (payload.leadId === leadId || payload.id === leadId) reload()
    },
    [leadId, reload],
  )
  useLive(leadEvents, handleEvent)
  useOnStreamOpen(reload)
  return useQuery({
    queryKey: ofLeadKey(workspaceId, leadId),
    queryFn: async () => (await api.GET(runsPath, { workspaceId, query: { leadId } })).runs,
  })
}

/** Returns actions on sequences; each refetches what it changes. */
export function useSequenceActions(workspaceId: string) {
  const queries = useQueryClient()
  const refetched = refetchedAfter(queries, allKey(workspaceId))
  return {
    create: async (body: SequenceDraft) => (await refetched(api.POST(path, { workspaceId, body }))).sequence,
    change: async (id: string, body: Partial<SequenceDraft> & { enabled?: boolean }) =>
      (await refetched(api.PATCH(onePath, { workspaceId, sequenceId: id, body }))).sequence,
    remove: (id: string) => refetched(api.DELETE(onePath, { workspaceId, sequenceId: id })),
    start: (id: string, leadIds: string[]) =>
      refetched(api.POST(`${onePath}/runs`, { workspaceId, sequenceId: id, body: { leadIds } })),
    stop: (runId: string) => refetched(api.POST(`${runsPath}/{runId}/stop`, { workspaceId, runId })),
  }
}
