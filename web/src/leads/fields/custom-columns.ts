import { useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import { useLeadFields } from '../../data/lead-fields.ts'
import { type LeadPage, listsOf } from '../../data/leads.ts'
import type { FieldType } from '../../ui/format/custom-value.ts'
import { customName } from '../../ui/format/lead-words.ts'
import { type CustomColumn, isCustom } from './conditions.ts'
import { columnOf } from './field-columns.ts'

/** A custom field as lists are sorted and narrowed by it. */
export interface CustomName {
  column: CustomColumn
  label: string
  /** What the workspace says of it; null where it says nothing. */
  type: FieldType | null
  choices: readonly string[]
  isArchived: boolean
}

/** Asks for the custom fields: those that the workspace defines, in its order, and behind them what its lists show besides. */
export function useCustomNames(workspaceId: string): () => CustomName[] {
  const queries = useQueryClient()
  const fields = useLeadFields(workspaceId)
  return useCallback(() => {
    const defined = fields.map(
      (field): CustomName => ({
        column: columnOf(field),
        label: field.label,
        type: field.type,
        choices: field.choices,
        isArchived: field.isArchived,
      }),
    )
    // What a parameter has brought also goes by its name without the prefix.
    const known = new Set(fields.flatMap(({ key }) => [key, `k_${key}`]))
    const seen = new Map<string, CustomName>()
    for (const [, data] of queries.getQueriesData<Partial<LeadPage>>({ queryKey: listsOf(workspaceId) })) {
      for (const { key, label } of data?.leads?.flatMap(({ customFields = [] }) => customFields) ?? []) {
        const column = `field:${key}`
        if (known.has(key) || !isCustom(column)) continue
        seen.set(key, { column, label: customName({ key, label }), type: null, choices: [], isArchived: false })
      }
    }
    return [...defined, ...[...seen.values()].sort((a, b) => a.label.localeCompare(b.label))]
  }, [queries, workspaceId, fields])
}

export const inUse = (customs: readonly CustomName[]): CustomName[] => customs.filter(({ isArchived }) => !isArchived)
