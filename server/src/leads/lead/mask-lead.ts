import { type Mask, maskOf } from '../../base/phone/mask.ts'
import { type CustomField, customFieldValues } from './custom-fields.ts'
import type { LeadPatch } from './input.ts'
import type { Lead } from './lead.ts'

type Maskable = Pick<Lead, 'uniqueCode' | 'externalRef' | 'firstName' | 'lastName' | 'email' | 'phone'>

/** The text fields that a mask may hide something of; the phone has a rule of its own. */
export const maskedFields = ['firstName', 'lastName', 'email', 'uniqueCode', 'externalRef'] as const

/** What a masked reader sees of a lead without its custom fields. The phone's mask stands before all others. */
export function maskPerson<L extends Maskable>(lead: L, mask = maskOf(lead.phone)): L {
  return {
    ...lead,
    phone: mask.phone,
    firstName: mask.name(lead.firstName),
    lastName: lead.lastName === null ? null : mask.name(lead.lastName),
    email: lead.email === null ? null : mask.text(lead.email),
    uniqueCode: mask.reference(lead.uniqueCode),
    externalRef: lead.externalRef === null ? null : mask.reference(lead.externalRef),
  }
}

/** What a masked reader sees of a lead. Notes are content, like messages, and stay. */
export function maskLead<L extends Maskable & { customFields: readonly CustomField[] }>(lead: L): L {
  const mask = maskOf(lead.phone)
  const person = maskPerson(lead, mask)
  return { ...person, customFields: lead.customFields.map((field) => maskField(mask, field)) }
}

function maskField(mask: Mask, field: CustomField): CustomField {
  const label = mask.text(field.label)
  if (typeof field.value !== 'string') return { ...field, label }
  return { ...field, label, value: maskValue(mask, field.type, field.value) }
}

function maskValue(mask: Mask, type: CustomField['type'], value: string): string {
  switch (type) {
    case 'phone':
      return mask.number(value)
    case 'text':
    case 'textarea':
    case 'select':
    case 'multiselect':
      return mask.value(value)
    default:
      return mask.text(value)
  }
}

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
