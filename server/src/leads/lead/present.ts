import { type CustomField, customFieldValues } from './custom-fields.ts'
import type { Lead } from './lead.ts'
import { maskLead, maskPerson, maskStatus } from './mask-lead.ts'

/** A lead as lists and answers show it. */
export function presentLead(stored: Lead, masked = false) {
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
    createdAt: lead.createdAt.toISOString(),
    updatedAt: lead.updatedAt.toISOString(),
    deletedAt: lead.deletedAt?.toISOString() ?? null,
  }
}

/** A lead alone and in events: with its custom fields, when it has any. */
export function presentDetail(lead: Lead, masked = false) {
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

/** An event's body, which is the lead in its detail form, as a masked reader sees it. */
export function maskLeadEvent(payload: Record<string, unknown>) {
  // Made anew below of the fields that are shown.
  const { previousStatus, customFieldValues: _, ...lead } = payload as unknown as RecordedLead
  const { customFields, formerPhones: __, ...shown } = maskLead({ ...lead, customFields: lead.customFields ?? [] })
  return {
    ...shown,
    ...(customFields.length > 0 && presentFields(customFields)),
    ...(previousStatus !== undefined && { previousStatus: maskStatus(previousStatus) }),
  }
}

/** The same as all others see it. */
export function showLeadEvent({ formerPhones: _, ...lead }: Record<string, unknown>) {
  return lead
}

/** The answer of an update: also what the status was, and `value`. */
export function presentUpdated(lead: Lead, previousStatus: string, masked = false) {
  const before = masked ? maskStatus(previousStatus) : previousStatus
  return { ...presentLead(lead, masked), previousStatus: before, value: lead.actualValue }
}
