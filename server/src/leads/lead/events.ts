import type { Sql } from '../../base/db.ts'
import type { EventDefinition } from '../../events/feed.ts'
import type { EventAuthor, NewEvent } from '../../events/record.ts'
import { blankLead } from './change.ts'
import { type Lead, leadFieldNames } from './lead.ts'
import { maskLeadEvent, otherPhoneNumbers, presentDetail, presentLeadEvent } from './present.ts'
import { LeadEvent, MergedLead } from './schema.ts'

const leadEventNames = ['lead.created', 'lead.updated', 'lead.deleted', 'lead.restored'] as const
type LeadEventName = (typeof leadEventNames)[number]

// Payloads contain the full phone, and former numbers for masking. Delivery applies the visibility of each receiver.

export const leadCreated = (lead: Lead, by?: EventAuthor): NewEvent => makeEvent('lead.created', lead, by)
export const leadDeleted = (lead: Lead, by?: EventAuthor): NewEvent => makeEvent('lead.deleted', lead, by)
export const leadRestored = (lead: Lead, by?: EventAuthor): NewEvent => makeEvent('lead.restored', lead, by)

/** Returns a `lead.updated` event; its payload has `previousStatus` if the status changed. */
export function leadUpdated(lead: Lead, before: Lead, by?: EventAuthor): NewEvent {
  const payload = payloadOf(lead)
  const { status: previousStatus } = before
  const changes = fieldChanges(before, lead)
  return {
    name: 'lead.updated',
    subjectId: lead.id,
    connectionId: null,
    payload: previousStatus === lead.status ? payload : { ...payload, previousStatus },
    ...(changes.length > 0 && { changes }),
    ...authorOf(by),
  }
}

/** The merge of another lead into this one. */
interface LeadMerge {
  mergedId: string
  mergeId: string
}

export const leadMerged = (lead: Lead, merge: LeadMerge): NewEvent => ({
  name: 'lead.merged',
  subjectId: lead.id,
  connectionId: null,
  payload: { ...payloadOf(lead), ...merge },
})

function makeEvent(name: LeadEventName, lead: Lead, by: EventAuthor | undefined): NewEvent {
  return { name, subjectId: lead.id, connectionId: null, payload: payloadOf(lead), ...authorOf(by) }
}

function payloadOf(lead: Lead): object {
  const others = otherPhoneNumbers(lead)
  return others.length === 0 ? presentDetail(lead) : { ...presentDetail(lead), formerPhones: others }
}

const authorOf = (by: EventAuthor | undefined): Pick<NewEvent, 'by'> => (by === undefined ? {} : { by })

/** Returns the condition for lead events, without test events of webhooks, which contain sample leads. */
export const isLeadEvent = (sql: Sql) => sql`name = any (${leadEventNames}::text[]) and test_endpoint_id is null`

export const isLeadEventOf = (sql: Sql, workspaceId: string) =>
  sql`workspace_id = ${workspaceId} and ${isLeadEvent(sql)}`

/** Former and new value of a field. Long texts are truncated: the timeline only shows that they changed. */
export interface FieldChange {
  /** Field name of the lead, or `field:<key>` for a custom field. */
  field: string
  label?: string
  from: string | number | boolean | null
  to: string | number | boolean | null
}

const maxValueLength = 200
const maxChangedFields = 40

/** Returns the fields that differ, in the order of a lead's fields. */
export function fieldChanges(before: Lead, after: Lead): FieldChange[] {
  const changes: FieldChange[] = []
  for (const field of leadFieldNames) {
    // Status changes have their own table and are kept permanently.
    if (field !== 'status' && before[field] !== after[field])
      changes.push({ field, from: truncate(before[field]), to: truncate(after[field]) })
  }
  if (before.customFields !== after.customFields) changes.push(...customFieldChanges(before, after))
  return changes.slice(0, maxChangedFields)
}

function customFieldChanges(before: Lead, after: Lead): FieldChange[] {
  const former = new Map(before.customFields.map((one) => [one.key, one]))
  const now = new Map(after.customFields.map((one) => [one.key, one]))
  return [...new Set([...former.keys(), ...now.keys()])].flatMap((key) => {
    const [from, to] = [former.get(key), now.get(key)]
    if (from?.value === to?.value) return []
    return [
      {
        field: `field:${key}`,
        label: to?.label ?? from?.label ?? key,
        from: toPrimitive(from?.value),
        to: toPrimitive(to?.value),
      },
    ]
  })
}

const toPrimitive = (value: unknown): FieldChange['from'] =>
  value === undefined || value === null
    ? null
    : typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
      ? truncate(value)
      : truncate(JSON.stringify(value))

const truncate = <T extends string | number | boolean | null>(value: T): T | string =>
  typeof value === 'string' && value.length > maxValueLength ? `${value.slice(0, maxValueLength - 1)}…` : value

const leadEventBase = {
  schema: LeadEvent,
  present: presentLeadEvent,
  mask: maskLeadEvent,
} satisfies Partial<EventDefinition>

export const leadEvents: Record<LeadEventName, EventDefinition> = {
  'lead.created': {
    ...leadEventBase,
    guide: 'A lead was created by the API, in bulk, from a form or from a chat. The body is the lead.',
    sample: (id, at) => leadCreated(sampleLead(id, at)),
  },
  'lead.updated': {
    ...leadEventBase,
    guide:
      'A field of a lead changed. The body is the lead after the change, with `previousStatus` if its status changed.',
    sample: (id, at) => leadUpdated({ ...sampleLead(id, at), status: 'qualified' }, sampleLead(id, at)),
  },
  'lead.deleted': {
    ...leadEventBase,
    guide: 'A lead was deleted. The body is the lead, with `deletedAt`.',
    sample: (id, at) => leadDeleted({ ...sampleLead(id, at), deletedAt: at }),
  },
  'lead.restored': {
    ...leadEventBase,
    guide: 'A deleted lead was restored. The body is the lead.',
    sample: (id, at) => leadRestored(sampleLead(id, at)),
  },
}

/** Recorded only for workspaces that ask for them. */
export const optInLeadEvents: Record<'lead.merged', EventDefinition> = {
  'lead.merged': {
    schema: MergedLead,
    present: presentLeadEvent,
    mask: ({ mergedId, mergeId, ...lead }) => ({ ...maskLeadEvent(lead), mergedId, mergeId }),
    guide:
      'A lead was merged into another one. The body is the kept lead, with `mergedId`, the id of the lead that it replaced.',
    sample: (id, at) => leadMerged(sampleLead(id, at), { mergedId: sampleMergedId, mergeId: sampleMergeId }),
  },
}

const sampleMergedId = '01985e2a-0000-7000-8000-000000000005'
const sampleMergeId = '01985e2a-0000-7000-8000-000000000006'

function sampleLead(id: string, at: Date): Lead {
  return {
    ...blankLead(id, 'LSAMPLE00001', at),
    externalRef: 'sample-1',
    firstName: 'Marina',
    lastName: 'Sample',
    email: 'marina@example.com',
    phone: '5511900000001',
    source: 'website',
    estimatedValue: 1200,
    customFields: [{ key: 'company_size', label: 'Company size', type: 'select', value: '1 to 10' }],
  }
}
