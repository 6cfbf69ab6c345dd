import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { api, body } from '../api/client.ts'
import { boardsOf, historyKey, type Lead, listsOf } from './leads.ts'
import { showLead } from './leads-cache.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/leads/{identifier}/labels'

export type SetLabel = (lead: Lead, labelId: string, isOn: boolean) => Promise<void>

/** Gives a lead a label or takes it off: seen at once, and taken back when the service refuses. Rejects with what it said. */
export function useSetLabel(workspaceId: string): SetLabel {
  const queries = useQueryClient()
  return useMemo(() => setterOf(queries, workspaceId), [queries, workspaceId])
}

function setterOf(queries: QueryClient, workspaceId: string): SetLabel {
  return async (lead, labelId, isOn) => {
    const { labelIds: before = [] } = lead
    const others = before.filter((id) => id !== labelId)
    const labelIds = isOn ? [...others, labelId] : others
    showLead(queries, workspaceId, { ...lead, labelIds })
    try {
      const params = { path: { workspaceId, identifier: lead.id } }
      await body(api.PUT(path, { params, body: { labelIds } }))
    } catch (error) {
      showLead(queries, workspaceId, { ...lead, labelIds: before })
      throw error
    } finally {
      for (const queryKey of [listsOf(workspaceId), boardsOf(workspaceId)]) {
        void queries.invalidateQueries({ queryKey, refetchType: 'none' })
      }
      void queries.invalidateQueries({ queryKey: historyKey(workspaceId, lead.id) })
    }
  }
}
