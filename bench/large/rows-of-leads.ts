import { newId } from '../../server/src/base/id.ts'
import type { Keyring } from '../../server/src/base/sealing/keyring.ts'
import { newLead } from '../../server/src/leads/lead/change.ts'
import { leadCreated } from '../../server/src/leads/lead/events.ts'
import type { Lead } from '../../server/src/leads/lead/lead.ts'
import { sealLead } from '../../server/src/leads/lead/sealed.ts'
import { searchTokens } from '../../server/src/leads/lead/search-lines.ts'
import { person } from '../people.ts'
import { eventRow } from './event-row.ts'
import { type Job, leadTime, messageEvents, positionAt, type Tenant } from './tenant.ts'

export type Add = (table: string, row: Readonly<Record<string, unknown>>) => void

/** Leads with their tokens and, of the newest, their events. */
export function addLeads(tenant: Tenant, keyring: Keyring, { from, to }: Job, add: Add): void {
  const { workspaceId } = tenant
  let [minute, nth] = [0, 0]
  for (let n = from; n < to; n++) {
    const at = leadTime(tenant, n)
    const lead: Lead = newLead({ fields: person(n), phoneAsSent: null, typed: [], values: {} }, newId(at), '', at).lead
    add('leads', { workspace_id: workspaceId, ...sealLead(keyring, lead) })
    const tokens = searchTokens(keyring, lead)
    add('lead_search', { workspace_id: workspaceId, lead_id: lead.id, index_version: keyring.indexVersion, tokens })
    nth = minuteOf(at) === minute ? nth + 1 : leadsBefore(tenant, n)
    minute = minuteOf(at)
    const position = positionAt(tenant, at, tenant.each * messageEvents + nth)
    if (position !== null) add('events', eventRow(keyring, workspaceId, leadCreated(lead), at, position))
  }
}

const minuteOf = (at: Date): number => Math.floor(at.getTime() / 60_000)

/** Leads of the same minute before the n-th, which may be another piece's. */
function leadsBefore(tenant: Tenant, n: number): number {
  let before = 0
  while (n > before && minuteOf(leadTime(tenant, n - before - 1)) === minuteOf(leadTime(tenant, n))) before++
  return before
}
