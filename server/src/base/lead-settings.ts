import { selectedAs } from './postgres/rows.ts'

/** Workspace settings that affect how leads are parsed, from every source: API key, member, form or file. */
export interface LeadSettings {
  /** ISO 3166-1 alpha-2 country of national phone numbers. */
  defaultCountry: string | null
}

/** SQL: columns to select from `workspaces w`. */
export const leadSettingsColumns = selectedAs('w', ['defaultCountry'])

/** Returns only these settings from a larger object. */
export const pickLeadSettings = ({ defaultCountry }: LeadSettings): LeadSettings => ({ defaultCountry })

export const defaultLeadSettings: LeadSettings = { defaultCountry: null }
