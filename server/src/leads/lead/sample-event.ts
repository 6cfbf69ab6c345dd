import type { NewEvent } from '../../events/record.ts'
import { leadCreated, leadDeleted, leadRestored, leadUpdated } from './events.ts'
import type { Lead } from './lead.ts'

type LeadEventName = 'lead.created' | 'lead.updated' | 'lead.deleted' | 'lead.restored'

/** An event of an invented lead, as a true one would be recorded: for tests of webhooks and for their documentation. */
export function sampleLeadEvent(name: LeadEventName, id: string, at: Date): NewEvent {
  const lead = sampleLead(id, at)
  switch (name) {
    case 'lead.created':
      return leadCreated(lead)
    case 'lead.updated':
      return leadUpdated({ ...lead, status: 'qualified' }, lead.status)
    case 'lead.deleted':
      return leadDeleted({ ...lead, deletedAt: at })
    case 'lead.restored':
      return leadRestored(lead)
  }
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
