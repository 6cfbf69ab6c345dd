import type { LeadSettings } from '../../base/lead-settings.ts'
import type { CustomFieldType } from '../../leads/lead/custom-fields.ts'
import type { Source } from '../../leads/lead/lead.ts'

/** The fields of a lead itself that a form can ask for, with the types they can be shown as. */
export const leadFieldTypes = {
  firstName: ['text'],
  lastName: ['text'],
  email: ['email'],
  phone: ['phone'],
  notes: ['textarea', 'text'],
} as const satisfies Record<string, readonly CustomFieldType[]>

export type LeadFieldKey = keyof typeof leadFieldTypes

export interface FormField {
  /** One of the lead's own fields, or the key of a custom field. */
  key: string
  label: string
  type: CustomFieldType
  required: boolean
  /** Of `select` and `multiselect`. */
  options?: string[]
  placeholder?: string
  help?: string
}

/** What the team decides about a form. */
export interface FormDefinition {
  slug: string
  /** For the team; people who fill the form see the title. */
  name: string
  title: string
  description: string | null
  fields: FormField[]
  submitLabel: string
  thankYou: string
  redirectUrl: string | null
  /** Origins such as `https://example.com`, or `*` for any. */
  allowedOrigins: string[]
  source: Source
  status: string
  active: boolean
}

export interface Form extends FormDefinition {
  workspaceId: string
  id: string
  createdAt: Date
  updatedAt: Date
}

/** A form as the public meets it: active, in a workspace whose plan has leads. */
export interface PublicForm extends Form {
  leadSettings: LeadSettings
}

export function isLeadField(key: string): key is LeadFieldKey {
  return Object.hasOwn(leadFieldTypes, key)
}

export function hasOptions(field: Pick<FormField, 'type'>): boolean {
  return field.type === 'select' || field.type === 'multiselect'
}

/** What a `multiselect` puts between the chosen options in the value it stores. */
export const optionSeparator = ', '

// Neither can be a field's key, so no team's field can collide with them.
export const tokenField = '_token'
/** Hidden from people: only programs that fill whatever they find fill it. */
export const decoyField = 'homepage'
