import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { api, type Schemas } from '../../api/client.ts'
import type { LiveEvent } from '../../api/live.ts'
import { pagedBy } from '../../api/paged-by.ts'
import { refetchQueries } from '../../api/refetch.ts'
import { useAfterEvents } from '../../ui/use-after-events.ts'
import { timelineKey } from '../leads.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/leads/{identifier}'

export type TimelineKind = 'messages' | 'notes' | 'changes' | 'merges' | 'tasks'
export type TimelineEntry = Schemas['LeadTimelineEntry']

export function useLeadTimeline(workspaceId: string, leadId: string, kind: TimelineKind | null) {
  return useInfiniteQuery({
    queryKey: [...timelineKey(workspaceId, leadId), kind],
    queryFn: ({ pageParam: cursor }) =>
      api.GET(`${path}/timeline`, { workspaceId, identifier: leadId, query: { kind, cursor } }),
    ...pagedBy('nextCursor'),
  })
}

export const addLeadNote = (workspaceId: string, leadId: string, text: string, key: string) =>
  api.POST(`${path}/notes`, { workspaceId, identifier: leadId, headers: { 'idempotency-key': key }, body: { text } })

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
  const refetch = () => void refetchQueries(queries, timelineKey(workspaceId, leadId))
  useAfterEvents(liveEvents, intervalMs, refetch, (event) => isAboutLead(event, leadId, phone))
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
