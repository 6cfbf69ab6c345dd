import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useRef } from 'react'
import { api, unwrap } from '../../api/client.ts'
import { type LiveEvent, useLive } from '../../api/live.ts'
import { refetchQueries } from '../../api/refetch.ts'
import { timelineKey } from '../leads.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/leads/{identifier}'

export type TimelineKind = 'messages' | 'notes' | 'changes' | 'merges' | 'tasks'
export type TimelineEntry = Awaited<ReturnType<typeof readTimeline>>['entries'][number]

const readTimeline = (workspaceId: string, identifier: string, query: { kind?: TimelineKind; cursor?: string }) =>
  unwrap(api.GET(`${path}/timeline`, { params: { path: { workspaceId, identifier }, query } }))

export function useLeadTimeline(workspaceId: string, leadId: string, kind: TimelineKind | null) {
  return useInfiniteQuery({
    queryKey: [...timelineKey(workspaceId, leadId), kind],
    queryFn: ({ pageParam }) =>
      readTimeline(workspaceId, leadId, {
        ...(kind !== null && { kind }),
        ...(pageParam !== '' && { cursor: pageParam }),
      }),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })
}

export const addLeadNote = (workspaceId: string, leadId: string, text: string, key: string) =>
  unwrap(
    api.POST(`${path}/notes`, {
      params: { path: { workspaceId, identifier: leadId }, header: { 'idempotency-key': key } },
      body: { text },
    }),
  )

const liveEvents = [
  'team.lead.changed',
  'team.conversation.changed',
  'team.conversations.changed',
  'lead.updated',
] as const
const intervalMs = 400

/** Refetches the timeline when the lead changes or a message with its phone arrives. */
export function useLiveTimeline(workspaceId: string, leadId: string, phone: string | null): void {
  const queries = useQueryClient()
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const handleEvent = useCallback(
    (event: LiveEvent) => {
      if (!isAboutLead(event, leadId, phone) || timer.current !== undefined) return
      timer.current = setTimeout(() => {
        timer.current = undefined
        void refetchQueries(queries, timelineKey(workspaceId, leadId))
      }, intervalMs)
    },
    [queries, workspaceId, leadId, phone],
  )
  useLive(liveEvents, handleEvent)
}

// Some numbers of one person differ by a digit after the area code; the last digits are equal.
const sharedDigits = 8

function isAboutLead({ event, payload }: LiveEvent, leadId: string, phone: string | null): boolean {
  if (event === 'team.conversations.changed') return true
  if (event === 'team.lead.changed') return payload.leadId === leadId
  if (event === 'lead.updated') return payload.id === leadId
  const { conversation } = payload as { conversation?: { contact?: { phone?: string | null } } }
  const customerPhone = conversation?.contact?.phone ?? null
  return phone !== null && customerPhone !== null && customerPhone.slice(-sharedDigits) === phone.slice(-sharedDigits)
}
