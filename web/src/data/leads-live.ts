import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useRef } from 'react'
import { type LiveEvent, useLive } from '../api/live.ts'
import { readAgain } from '../api/read-again.ts'
import { type Lead, leadsOf } from './leads.ts'
import { hideLeads, showLead } from './leads-cache.ts'

const names = ['lead.created', 'lead.updated', 'lead.deleted', 'lead.restored', 'team.lead_labels.changed'] as const
const betweenMs = 800

/** Shows what others do to leads. Lists are read again at most every so often, however much an import brings. */
export function useLeadsLive(workspaceId: string): void {
  const queries = useQueryClient()
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const hear = useCallback(
    ({ event, payload }: LiveEvent) => {
      const { previousStatus: _, ...lead } = payload as unknown as Lead & { previousStatus?: string }
      if (event === 'lead.updated') showLead(queries, workspaceId, lead)
      if (event === 'lead.deleted') hideLeads(queries, workspaceId, new Set([lead.id]))
      timer.current ??= setTimeout(() => {
        timer.current = undefined
        void readAgain(queries, leadsOf(workspaceId))
      }, betweenMs)
    },
    [queries, workspaceId],
  )
  useLive(names, hear)
}
