import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import { api } from '../api/client.ts'
import {
  historyKey,
  type Lead,
  type LeadChanges,
  leadBoardsKey,
  leadListsKey,
  patchLead,
  timelineKey,
} from './leads.ts'
import { moveCard, showLead } from './leads-cache.ts'

/**
 * Changes a lead optimistically in the table, on the board, in the panel and beside its conversation, and reverts if
 * the server refuses. Returns the error, if any.
 */
export async function changeLead(
  queries: QueryClient,
  workspaceId: string,
  lead: Lead,
  changes: LeadChanges,
): Promise<unknown> {
  const { customFieldValues = {}, ...fields } = changes
  const changed = { ...lead, ...fields, ...customValuesOf(lead, customFieldValues) }
  applyToCache(queries, workspaceId, lead, changed)
  try {
    showLead(queries, workspaceId, await patchLead(workspaceId, lead.id, changes))
    return null
  } catch (error) {
    applyToCache(queries, workspaceId, changed, lead)
    return error
  } finally {
    markListsOld(queries, workspaceId)
    void queries.invalidateQueries({ queryKey: timelineKey(workspaceId, lead.id) })
    if (changed.status !== lead.status) void queries.invalidateQueries({ queryKey: historyKey(workspaceId, lead.id) })
  }
}

/** Its position in lists may have changed. An open list is refetched when the live stream says so. */
function markListsOld(queries: QueryClient, workspaceId: string): void {
  for (const queryKey of [leadListsKey(workspaceId), leadBoardsKey(workspaceId)]) {
    void queries.invalidateQueries({ queryKey, refetchType: 'none' })
  }
}

/** Merges changed values into the custom values of a lead. */
function customValuesOf(lead: Lead, changes: NonNullable<LeadChanges['customFieldValues']>) {
  const { customFields = [], customFieldValues: values = {} } = lead
  const shown = customFields.flatMap((field) => {
    const value = field.key in changes ? changes[field.key] : field.value
    return value === null || value === undefined ? [] : [{ ...field, value }]
  })
  const added = Object.entries(changes).flatMap(([key, value]) => {
    if (value === null || customFields.some((field) => field.key === key)) return []
    return [{ key, label: key, type: typeof value === 'boolean' ? ('boolean' as const) : ('text' as const), value }]
  })
  const kept = Object.entries({ ...values, ...changes }).filter(([, value]) => value !== null)
  return { customFields: [...shown, ...added], customFieldValues: Object.fromEntries(kept) as typeof values }
}

function applyToCache(queries: QueryClient, workspaceId: string, before: Lead, after: Lead): void {
  if (before.status !== after.status) moveCard(queries, workspaceId, before, after.status)
  showLead(queries, workspaceId, after)
}

const labelsPath = '/api/team/v1/workspaces/{workspaceId}/leads/{identifier}/labels'

export type SetLabels = (lead: Lead, labelIds: readonly string[]) => Promise<void>

/** Replaces the labels of a lead optimistically, and reverts if the server refuses. Rejects with its error. */
export function useSetLabels(workspaceId: string): SetLabels {
  const queries = useQueryClient()
  return useCallback(
    async (lead, ids) => {
      const { labelIds: before = [] } = lead
      const labelIds = [...ids]
      showLead(queries, workspaceId, { ...lead, labelIds })
      try {
        await api.PUT(labelsPath, { workspaceId, identifier: lead.id, body: { labelIds } })
      } catch (error) {
        showLead(queries, workspaceId, { ...lead, labelIds: before })
        throw error
      } finally {
        markListsOld(queries, workspaceId)
        void queries.invalidateQueries({ queryKey: historyKey(workspaceId, lead.id) })
      }
    },
    [queries, workspaceId],
  )
}

export type SetLabel = (lead: Lead, labelId: string, isOn: boolean) => Promise<void>

/** Adds or removes a label of a lead; otherwise as `useSetLabels`. */
export function useSetLabel(workspaceId: string): SetLabel {
  const setLabels = useSetLabels(workspaceId)
  return useCallback(
    (lead, labelId, isOn) => {
      const others = (lead.labelIds ?? []).filter((id) => id !== labelId)
      return setLabels(lead, isOn ? [...others, labelId] : others)
    },
    [setLabels],
  )
}
