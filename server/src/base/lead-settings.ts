import type { Sql } from './db.ts'

/** What of a workspace's settings decides how its leads are read, whoever brings them: a key, a member, a form, a file. */
export interface LeadSettings {
  /** ISO 3166-1 alpha-2: national phone numbers are read as numbers of this country. */
  defaultCountry: string | null
}

/** The same as `workspaces` has it. */
export interface LeadSettingsRow {
  default_country: string | null
}

/** To be selected from `workspaces w`. */
export const leadSettingsColumns = (sql: Sql) => sql`w.default_country`

export const readLeadSettings = (row: LeadSettingsRow): LeadSettings => ({ defaultCountry: row.default_country })

/** Nothing more than these, of what has them among other things. */
export const leadSettingsOf = ({ defaultCountry }: LeadSettings): LeadSettings => ({ defaultCountry })

export const plainLeadSettings: LeadSettings = { defaultCountry: null }
