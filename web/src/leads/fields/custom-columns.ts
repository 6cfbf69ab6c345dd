import { useQueryClient } from '@tanstack/react-query'
import { type LeadField, useLeadFields } from '../../data/lead-fields.ts'
import { type LeadPage, leadListsKey } from '../../data/leads.ts'
import { type CustomColumn, isCustom } from '../../shared/lead-view/conditions.ts'
import type { FieldType } from '../../ui/format/custom-value.ts'
import { customFieldName } from '../../ui/format/lead-texts.ts'
import { columnOf } from './field-columns.ts'

/** A custom field for sorting and filtering. */
export interface CustomColumnInfo extends Pick<LeadField, 'label' | 'choices' | 'isArchived'> {
  column: CustomColumn
  /** Type from the definition; null for undefined fields. */
  type: FieldType | null
}

/** Returns custom fields: the defined ones in order, then others that appear in loaded lists. */
export function useCustomColumns(workspaceId: string): CustomColumnInfo[] {
  const queries = useQueryClient()
  const fields = useLeadFields(workspaceId)
  const defined = fields.map((field): CustomColumnInfo => ({ ...field, column: columnOf(field) }))
  // Values from URL parameters also match the key without the prefix.
  const known = new Set(fields.flatMap(({ key }) => [key, `k_${key}`]))
  const seen = new Map<string, CustomColumnInfo>()
  for (const [, data] of queries.getQueriesData<Partial<LeadPage>>({ queryKey: leadListsKey(workspaceId) })) {
    for (const { key, label } of data?.leads?.flatMap(({ customFields = [] }) => customFields) ?? []) {
      const column = `field:${key}`
      if (known.has(key) || !isCustom(column)) continue
      seen.set(key, { column, label: customFieldName({ key, label }), type: null, choices: [], isArchived: false })
    }
  }
  return [...defined, ...[...seen.values()].sort((a, b) => a.label.localeCompare(b.label))]
}

export const activeColumns = (customs: readonly CustomColumnInfo[]): CustomColumnInfo[] =>
  customs.filter(({ isArchived }) => !isArchived)
