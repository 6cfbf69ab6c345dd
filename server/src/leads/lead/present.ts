import { createMask, type Mask } from '../../base/phone/mask.ts'
import { type CustomField, customFieldValues } from './custom-fields.ts'
import type { LeadPatch } from './input.ts'
import type { Lead, LeadContacts, ListedLead } from './lead.ts'

const isoText = (time: Date | string): string => (typeof time === 'string' ? time : time.toISOString())

/** Returns a lead as lists and responses show it. */
export function presentLead(stored: Lead | ListedLead, masked = false) {
  const lead = masked ? maskPerson(stored) : stored
  return {
    id: lead.id,
    uniqueCode: lead.uniqueCode,
    externalRef: lead.externalRef,
    firstName: lead.firstName,
    lastName: lead.lastName,
    email: lead.email,
    phone: lead.phone,
    status: lead.status,
    priority: lead.priority,
    source: lead.source,
    adPlatform: lead.adPlatform,
    assignedTo: lead.assignedTo,
    estimatedValue: lead.estimatedValue,
    actualValue: lead.actualValue,
    notes: lead.notes,
    createdAt: isoText(lead.createdAt),
    updatedAt: isoText(lead.updatedAt),
    deletedAt: lead.deletedAt?.toISOString() ?? null,
  }
}

/** Returns a lead in detail form, with its custom fields if it has any. */
export function presentDetail(lead: Lead | ListedLead, masked = false) {
  if (lead.customFields.length === 0) return presentLead(lead, masked)
  const shown = masked ? maskLead(lead) : lead
  return { ...presentLead(shown), ...presentFields(shown.customFields) }
}

const presentFields = (customFields: CustomField[]) => ({
  customFields,
  customFieldValues: customFieldValues(customFields),
})

interface RecordedLead extends Lead {
  previousStatus?: string
  customFieldValues?: unknown
}

/** Returns the payload of a lead event as a masked reader sees it. */
export function maskLeadEvent(payload: Record<string, unknown>) {
  // Rebuilt below from the visible fields.
  const { previousStatus, customFieldValues: _, ...lead } = payload as unknown as RecordedLead
  const { customFields, formerPhones: __, ...shown } = maskLead({ ...lead, customFields: lead.customFields ?? [] })
  return {
    ...shown,
    ...(customFields.length > 0 && presentFields(customFields)),
    ...(previousStatus !== undefined && { previousStatus: maskStatus(previousStatus) }),
  }
}

/** Returns the payload of a lead event as other readers see it. */
export function presentLeadEvent({ formerPhones: _, ...lead }: Record<string, unknown>) {
  return lead
}

/** Returns the response of an update, with `previousStatus` and `value`. */
export function presentUpdated(lead: Lead, previousStatus: string, masked = false) {
  const before = masked ? maskStatus(previousStatus) : previousStatus
  return { ...presentLead(lead, masked), previousStatus: before, value: lead.actualValue }
}

type Maskable = Pick<Lead, 'uniqueCode' | 'externalRef' | 'firstName' | 'lastName' | 'email'> &
  Partial<Pick<Lead, 'status' | 'notes'>> &
  PhoneNumbers

export interface PhoneNumbers {
  phone: string | null
  contacts?: LeadContacts | null | undefined
  formerPhones?: string[] | undefined
}

/** Searchable text fields in which masking may hide parts; phones are masked by their own rule. */
export const maskedFields = ['firstName', 'lastName', 'email', 'uniqueCode', 'externalRef'] as const

/** Returns the other and former phones of a lead. */
export const otherPhoneNumbers = ({ contacts, formerPhones }: PhoneNumbers): string[] => [
  ...(contacts?.phones ?? []),
  ...(formerPhones ?? []),
]

/** Drops the oldest former phones beyond this. Text masking hides most parts of any number even without them. */
const maxFormerPhones = 20

/** Returns the changed lead with the phones that the change removed added to its former phones. */
export function withFormerPhones<L extends Lead>(lead: L, ...before: readonly PhoneNumbers[]): L {
  const has = new Set([lead.phone, ...(lead.contacts?.phones ?? [])])
  const known = before.flatMap((one) => [...(one.phone === null ? [] : [one.phone]), ...otherPhoneNumbers(one)])
  const gone = [...new Set([...(lead.formerPhones ?? []), ...known])].filter((phone) => !has.has(phone))
  const { formerPhones: _, ...rest } = lead
  return (gone.length === 0 ? rest : { ...rest, formerPhones: gone.slice(-maxFormerPhones) }) as L
}

/** Masks a status with underscores: a status is a token, which cannot contain asterisks. */
export const maskStatus = (status: string): string => createMask(null).reference(status).replaceAll('*', '_')

/** Returns a lead, without custom fields, as a masked reader sees it. The phone's mask applies before all others. */
export function maskPerson<L extends Maskable>(lead: L, mask = createMask(lead.phone, otherPhoneNumbers(lead))): L {
  return {
    ...lead,
    phone: mask.phone,
    firstName: mask.text(lead.firstName),
    lastName: lead.lastName === null ? null : mask.text(lead.lastName),
    email: lead.email === null ? null : mask.text(lead.email),
    uniqueCode: mask.reference(lead.uniqueCode),
    externalRef: lead.externalRef === null ? null : mask.reference(lead.externalRef),
    ...(lead.status !== undefined && { status: maskStatus(lead.status) }),
    ...(typeof lead.notes === 'string' && { notes: mask.text(lead.notes) }),
  }
}

/** Returns a lead with custom fields as a masked reader sees it. */
function maskLead<L extends Maskable & { customFields: readonly CustomField[] }>(lead: L): L {
  const mask = createMask(lead.phone, otherPhoneNumbers(lead))
  const person = maskPerson(lead, mask)
  return { ...person, customFields: lead.customFields.flatMap((field) => maskField(mask, field)) }
}

/** Returns the masked field, or nothing if its key contains a number: a masked key would name another field. */
function maskField(mask: Mask, field: CustomField): CustomField[] {
  if (mask.reference(field.key) !== field.key) return []
  const label = mask.text(field.label)
  if (typeof field.value !== 'string') return [{ ...field, label }]
  return [{ ...field, label, value: maskValue(mask, field.type, field.value) }]
}

function maskValue(mask: Mask, type: CustomField['type'], value: string): string {
  if (type === 'phone') return mask.number(value)
  if (type !== 'number') return mask.text(value)
  // Decimals do not make an amount a longer number.
  const [whole = '', ...decimals] = value.split('.')
  return [mask.text(whole), ...decimals].join('.')
}

/**
 * Replaces values that repeat what a masked reader sees with the stored values. `isBlind` is true if the patch
 * overwrites a partly hidden value: that always counts as a change, or a caller could find the hidden text by trying
 * which text changes nothing.
 */
export function unmaskPatch(lead: Lead, patch: LeadPatch): { patch: LeadPatch; overwritesHidden: boolean } {
  const shown = maskLead(lead)
  const fields = { ...patch.fields }
  let overwritesHidden = false
  for (const name of [...maskedFields, 'status', 'notes'] as const) {
    if (shown[name] === lead[name] || typeof fields[name] !== 'string') continue
    if (fields[name] === shown[name]) Object.assign(fields, { [name]: lead[name] })
    else overwritesHidden = true
  }
  const stored = customFieldValues(lead.customFields)
  const visible = customFieldValues(shown.customFields)
  const unmask = <V>(key: string, value: V): V => {
    if (stored[key] === visible[key] || typeof value !== 'string') return value
    if (value === visible[key]) return stored[key] as V
    overwritesHidden = true
    return value
  }
  const values = Object.fromEntries(Object.entries(patch.values).map(([key, value]) => [key, unmask(key, value)]))
  const typed = patch.typed.map((field): CustomField => ({ ...field, value: unmask(field.key, field.value) }))
  return { patch: { ...patch, fields, values, typed }, overwritesHidden }
}
