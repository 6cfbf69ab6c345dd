import { useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import { type LiveEvent, useLive } from '../api/live.ts'
import { refetchQueries } from '../api/refetch.ts'
import { useAfterEvents } from '../ui/use-after-events.ts'
import { type Lead, leadsKey } from './leads.ts'
import { hideLeads, showLead } from './leads-cache.ts'

const eventNames = [
  'lead.created',
  'lead.updated',
  'lead.deleted',
  'lead.restored',
  'team.lead_labels.changed',
] as const
const intervalMs = 800

/** Shows changes by others. Lists are refetched at a limited rate, however many leads an import creates. */
export function useLiveLeads(workspaceId: string): void {
  const queries = useQueryClient()
  const handleEvent = useCallback(
    ({ event, payload }: LiveEvent) => {
      const { previousStatus: _, ...lead } = payload as unknown as Lead & { previousStatus?: string }
      if (event === 'lead.updated') showLead(queries, workspaceId, lead)
      if (event === 'lead.deleted') hideLeads(queries, workspaceId, new Set([lead.id]))
    },
    [queries, workspaceId],
  )
  useLive(eventNames, handleEvent)
  useAfterEvents(eventNames, intervalMs, () => void refetchQueries(queries, leadsKey(workspaceId)))
}
