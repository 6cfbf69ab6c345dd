import type { Sql } from '../../base/db.ts'
import type { MadeBy, NewEvent } from '../../events/record.ts'
import { fieldChanges } from './field-changes.ts'
import type { Lead } from './lead.ts'
import { otherNumbers } from './mask-lead.ts'
import { presentDetail } from './present.ts'

/** What is said of each stands in `leads/api/lead-event-catalogue.ts`. */
const leadEventNames = ['lead.created', 'lead.updated', 'lead.deleted', 'lead.restored'] as const
export type LeadEventName = (typeof leadEventNames)[number]

// Bodies carry the phone in full, and the lead's other numbers for the mask: each receiver's own visibility is applied when it is
// delivered.

export const leadCreated = (lead: Lead, by?: MadeBy): NewEvent => event('lead.created', lead, by)
export const leadDeleted = (lead: Lead, by?: MadeBy): NewEvent => event('lead.deleted', lead, by)
export const leadRestored = (lead: Lead, by?: MadeBy): NewEvent => event('lead.restored', lead, by)

/** A change of status is an update whose body also says what the status was. */
export function leadUpdated(lead: Lead, before: Lead, by?: MadeBy): NewEvent {
  const payload = bodyOf(lead)
  const { status: previousStatus } = before
  return {
    name: 'lead.updated',
    subjectId: lead.id,
    connectionId: null,
    payload: previousStatus === lead.status ? payload : { ...payload, previousStatus },
    ...changesOf(before, lead),
    ...madeBy(by),
  }
}

// The history of statuses is kept for good, and on its own.
function changesOf(before: Lead, lead: Lead): Pick<NewEvent, 'changes'> {
  const changes = fieldChanges(before, lead)
  return changes.length === 0 ? {} : { changes }
}

function event(name: LeadEventName, lead: Lead, by: MadeBy | undefined): NewEvent {
  return { name, subjectId: lead.id, connectionId: null, payload: bodyOf(lead), ...madeBy(by) }
}

function bodyOf(lead: Lead): object {
  const others = otherNumbers(lead)
  return others.length === 0 ? presentDetail(lead) : { ...presentDetail(lead), formerPhones: others }
}

const madeBy = (by: MadeBy | undefined): Pick<NewEvent, 'by'> => (by === undefined ? {} : { by })

/** The condition on events that tell of a lead. Tests of webhooks tell of leads that are invented. */
export const tellsOfLead = (sql: Sql) => sql`name = any (${leadEventNames}::text[]) and test_endpoint_id is null`

/** The condition on those of one workspace. */
export const eventsOfLeads = (sql: Sql, workspaceId: string) =>
  sql`workspace_id = ${workspaceId} and ${tellsOfLead(sql)}`
