import type { EventKind } from '../../events/feed.ts'
import { type LeadEventName, leadCreated, leadDeleted, leadRestored, leadUpdated } from '../lead/events.ts'
import type { Lead } from '../lead/lead.ts'
import { maskLeadEvent, showLeadEvent } from '../lead/present.ts'
import { LeadEvent } from '../lead/schema.ts'

const aboutLead = { schema: LeadEvent, show: showLeadEvent, mask: maskLeadEvent }

/** The events of leads, each with all that is said of it. */
export const leadEvents: Record<LeadEventName, EventKind> = {
  'lead.created': {
    ...aboutLead,
    guide: 'A lead was created: by the API, in bulk, by a form, or since a customer wrote. The body is the lead.',
    sample: (id, at) => leadCreated(sampleLead(id, at)),
  },
  'lead.updated': {
    ...aboutLead,
    guide:
      'A field of a lead changed. The body is the lead as it is now, with `previousStatus` when its status changed.',
    sample: (id, at) => leadUpdated({ ...sampleLead(id, at), status: 'qualified' }, sampleLead(id, at)),
  },
  'lead.deleted': {
    ...aboutLead,
    guide: 'A lead was deleted. The body is the lead, with `deletedAt`.',
    sample: (id, at) => leadDeleted({ ...sampleLead(id, at), deletedAt: at }),
  },
  'lead.restored': {
    ...aboutLead,
    guide: 'A deleted lead was brought back. The body is the lead.',
    sample: (id, at) => leadRestored(sampleLead(id, at)),
  },
}

function sampleLead(id: string, at: Date): Lead {
  return {
    id,
    uniqueCode: 'LSAMPLE00001',
    externalRef: 'sample-1',
    firstName: 'Marina',
    lastName: 'Sample',
    email: 'marina@example.com',
    phone: '5511900000001',
    status: 'new',
    priority: 'medium',
    source: 'website',
    adPlatform: null,
    assignedTo: null,
    estimatedValue: 1200,
    actualValue: null,
    notes: null,
    customFields: [{ key: 'company_size', label: 'Company size', type: 'select', value: '1 to 10' }],
    createdAt: at,
    updatedAt: at,
    deletedAt: null,
  }
}
