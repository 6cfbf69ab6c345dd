import { type CustomField, customFieldValues } from './custom-fields.ts'
import type { LeadPatch } from './input.ts'
import type { Lead } from './lead.ts'
import { maskedFields, maskLead } from './mask-lead.ts'

/** The patch with what is stored wherever it only repeats what a masked reader sees of that. */
export function unmaskPatch(lead: Lead, patch: LeadPatch): LeadPatch {
  const shown = maskLead(lead)
  const fields = { ...patch.fields }
  for (const name of maskedFields) {
    if (fields[name] === shown[name] && shown[name] !== null) Object.assign(fields, { [name]: lead[name] })
  }
  const stored = customFieldValues(lead.customFields)
  const seen = customFieldValues(shown.customFields)
  const unmask = <V>(key: string, value: V): V => (value === seen[key] ? (stored[key] as V) : value)
  const values = Object.fromEntries(Object.entries(patch.values).map(([key, value]) => [key, unmask(key, value)]))
  const typed = patch.typed.map((field): CustomField => ({ ...field, value: unmask(field.key, field.value) }))
  return { ...patch, fields, values, typed }
}
