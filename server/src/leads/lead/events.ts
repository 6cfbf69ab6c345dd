import type { Sql } from '../../base/db.ts'
import type { NewEvent } from '../../events/record.ts'
import type { Lead } from './lead.ts'
import { presentDetail } from './present.ts'

/** What is said of each stands in `leads/api/event-catalogue.ts`. */
const leadEventNames = ['lead.created', 'lead.updated', 'lead.deleted', 'lead.restored'] as const
export type LeadEventName = (typeof leadEventNames)[number]

// Bodies carry the phone in full; each receiver's own visibility is applied when it is delivered.

export const leadCreated = (lead: Lead): NewEvent => event('lead.created', lead)
export const leadDeleted = (lead: Lead): NewEvent => event('lead.deleted', lead)
export const leadRestored = (lead: Lead): NewEvent => event('lead.restored', lead)

/** A change of status is an update whose body also says what the status was. */
export function leadUpdated(lead: Lead, previousStatus: string): NewEvent {
  const payload = presentDetail(lead)
  return {
    name: 'lead.updated',
    subjectId: lead.id,
    connectionId: null,
    payload: previousStatus === lead.status ? payload : { ...payload, previousStatus },
  }
}

function event(name: LeadEventName, lead: Lead): NewEvent {
  return { name, subjectId: lead.id, connectionId: null, payload: presentDetail(lead) }
}

/** The condition on events that tell of a lead. Tests of webhooks tell of leads that are invented. */
export const tellsOfLead = (sql: Sql) => sql`name = any (${leadEventNames}::text[]) and test_endpoint_id is null`

/** The condition on those of one workspace. */
export const eventsOfLeads = (sql: Sql, workspaceId: string) =>
  sql`workspace_id = ${workspaceId} and ${tellsOfLead(sql)}`
