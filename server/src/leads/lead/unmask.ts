import { type CustomField, customFieldValues } from './custom-fields.ts'
import type { LeadPatch } from './input.ts'
import type { Lead } from './lead.ts'
import { maskedFields, maskLead } from './mask-lead.ts'

/**
 * The patch with what is stored wherever it only repeats what a masked reader sees of that. It is blind when it writes where
 * something is hidden: that counts as a change whatever is there, or writing on would find the text that changes nothing.
 */
export function unmaskPatch(lead: Lead, patch: LeadPatch): { patch: LeadPatch; isBlind: boolean } {
  const shown = maskLead(lead)
  const fields = { ...patch.fields }
  let isBlind = false
  for (const name of maskedFields) {
    if (shown[name] === lead[name] || typeof fields[name] !== 'string') continue
    if (fields[name] === shown[name]) Object.assign(fields, { [name]: lead[name] })
    else isBlind = true
  }
  const stored = customFieldValues(lead.customFields)
  const seen = customFieldValues(shown.customFields)
  const unmask = <V>(key: string, value: V): V => {
    if (stored[key] === seen[key] || typeof value !== 'string') return value
    if (value === seen[key]) return stored[key] as V
    isBlind = true
    return value
  }
  const values = Object.fromEntries(Object.entries(patch.values).map(([key, value]) => [key, unmask(key, value)]))
  const typed = patch.typed.map((field): CustomField => ({ ...field, value: unmask(field.key, field.value) }))
  return { patch: { ...patch, fields, values, typed }, isBlind }
}
