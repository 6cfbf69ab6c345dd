import type { QueryClient } from '@tanstack/react-query'
import { boardsOf, historyKey, type Lead, type LeadChanges, listsOf, patchLead, timelineKey } from './leads.ts'
import { moveCard, showLead } from './leads-cache.ts'

/**
 * Changes a lead: seen at once in the table, on the board, in the panel and beside its conversation, and taken back when
 * the service refuses. Returns what the service said against it.
 */
export async function changeLead(
  queries: QueryClient,
  workspaceId: string,
  lead: Lead,
  changes: LeadChanges,
): Promise<unknown> {
  const { customFieldValues: _, ...fields } = changes
  const changed = { ...lead, ...fields }
  showChange(queries, workspaceId, lead, changed)
  try {
    showLead(queries, workspaceId, await patchLead(workspaceId, lead.id, changes))
    return null
  } catch (error) {
    showChange(queries, workspaceId, changed, lead)
    return error
  } finally {
    // A list may have it elsewhere now, or no more. Where one is open, the live stream says when to read it again.
    for (const queryKey of [listsOf(workspaceId), boardsOf(workspaceId)]) {
      void queries.invalidateQueries({ queryKey, refetchType: 'none' })
    }
    void queries.invalidateQueries({ queryKey: timelineKey(workspaceId, lead.id) })
    if (changed.status !== lead.status) {
      void queries.invalidateQueries({ queryKey: historyKey(workspaceId, lead.id) })
    }
  }
}

function showChange(queries: QueryClient, workspaceId: string, before: Lead, after: Lead): void {
  if (before.status !== after.status) moveCard(queries, workspaceId, before, after.status)
  showLead(queries, workspaceId, after)
}
