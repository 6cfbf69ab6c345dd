import { maskPhone } from '../base/phone.ts'
import { customFieldValues } from './custom-fields.ts'
import type { Lead } from './lead.ts'

/** A lead as lists and answers show it. */
export function presentLead(lead: Lead, masked = false) {
  return {
    id: lead.id,
    uniqueCode: lead.uniqueCode,
    externalRef: lead.externalRef,
    firstName: lead.firstName,
    lastName: lead.lastName,
    email: lead.email,
    phone: masked && lead.phone !== null ? maskPhone(lead.phone) : lead.phone,
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
  return {
    ...presentLead(lead, masked),
    customFields: lead.customFields,
    customFieldValues: customFieldValues(lead.customFields),
  }
}

/** An event's body as a reader sees it. */
export function presentLeadEvent(payload: Record<string, unknown>, masked: boolean) {
  const { phone } = payload
  return masked && typeof phone === 'string' ? { ...payload, phone: maskPhone(phone) } : payload
}

/** The answer of an update: also what the status was, and `value`. */
export function presentUpdated(lead: Lead, previousStatus: string, masked = false) {
  return { ...presentLead(lead, masked), previousStatus, value: lead.actualValue }
}
