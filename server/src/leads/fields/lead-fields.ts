import type { Sql } from '../../base/db.ts'
import type { LeadFieldType } from './field-types.ts'

export const fieldPlaces = ['panel', 'table', 'forms'] as const
export type FieldPlace = (typeof fieldPlaces)[number]

/** What a workspace says of one custom field of its leads. */
export interface LeadField {
  id: string
  key: string
  label: string
  type: LeadFieldType
  choices: string[]
  required: boolean
  shown_in: FieldPlace[]
  archived_at: Date | null
}

/** All of them in their order, those that were put away included. */
export async function listLeadFields(sql: Sql, workspaceId: string): Promise<LeadField[]> {
  return sql<LeadField[]>`
    select id, key, label, type, choices, required, shown_in, archived_at
    from lead_fields
    where workspace_id = ${workspaceId}
    order by place, id`
}

/** Those that are in use, by their key. */
export async function fieldsInUse(sql: Sql, workspaceId: string): Promise<ReadonlyMap<string, LeadField>> {
  const fields = await listLeadFields(sql, workspaceId)
  return new Map(fields.filter((field) => field.archived_at === null).map((field) => [field.key, field]))
}
