import { useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import { type LeadPage, listsOf } from '../../data/leads.ts'
import type { CustomColumn } from './conditions.ts'

export interface CustomName {
  column: CustomColumn
  label: string
}

/** Asks for the custom fields that lists which are here show, by name. */
export function useCustomNames(workspaceId: string): () => CustomName[] {
  const queries = useQueryClient()
  return useCallback(() => {
    const names = new Map<CustomColumn, string>()
    for (const [, data] of queries.getQueriesData<Partial<LeadPage>>({ queryKey: listsOf(workspaceId) })) {
      for (const { customFields = [] } of data?.leads ?? []) {
        for (const { key, label } of customFields) names.set(`field:${key}`, label)
      }
    }
    return [...names].map(([column, label]) => ({ column, label })).sort((a, b) => a.label.localeCompare(b.label))
  }, [queries, workspaceId])
}
