import type { Keyring } from '../../server/src/base/encryption/keyring.ts'
import { newId } from '../../server/src/base/id.ts'
import { newLead } from '../../server/src/leads/lead/change.ts'
import { encryptLead } from '../../server/src/leads/lead/encrypted-lead.ts'
import { leadCreated } from '../../server/src/leads/lead/events.ts'
import type { Lead } from '../../server/src/leads/lead/lead.ts'
import { searchTokens } from '../../server/src/leads/lead/search-lines.ts'
import { person } from '../people.ts'
import type { RowBuffer } from './binary-rows.ts'
import { eventRow } from './event-row.ts'
import { addCopy, idBytes, randomBytesOf, type Template, templateOf } from './templates.ts'
import { isLeadDecryptable, type Job, leadTime, messageEvents, positionAt, type Tenant } from './tenant.ts'

export type RowBufferOf = (table: string) => RowBuffer

/** Adds leads with their tokens and, for the newest, their events. */
export function addLeads(tenant: Tenant, keyring: Keyring, { from, to }: Job, sheetOf: RowBufferOf): void {
  const { workspaceId } = tenant
  let [minute, nth] = [Number.NaN, 0]
  for (let n = from; n < to; n++) {
    const at = leadTime(tenant, n)
    if (!isLeadDecryptable(tenant, n)) {
      addUndecryptable(tenant, keyring, n, at, sheetOf)
      continue
    }
    const lead: Lead = newLead({ fields: person(n), phoneAsSent: null, typed: [], values: {} }, newId(at), '', at).lead
    addLead(sheetOf, keyring, workspaceId, lead)
    nth = minuteOf(tenant, at) === minute ? nth + 1 : leadsBefore(tenant, n)
    minute = minuteOf(tenant, at)
    const position = positionAt(tenant, at, tenant.each * messageEvents + nth)
    if (position !== null) sheetOf('events').add(eventRow(keyring, workspaceId, leadCreated(lead), at, position))
  }
}

function addLead(sheetOf: RowBufferOf, keyring: Keyring, workspaceId: string, lead: Lead): void {
  sheetOf('leads').add({ workspace_id: workspaceId, ...encryptLead(keyring, lead) })
  const tokens = searchTokens(keyring, lead)
  const { indexVersion } = keyring
  sheetOf('lead_search').add({ workspace_id: workspaceId, lead_id: lead.id, index_version: indexVersion, tokens })
}

/** Number of templates for undecryptable leads, and the first person used for them; readable leads use others. */
const [templates, firstUndecryptable] = [4_096, 20_000_000]
const undecryptableOf = new WeakMap<Keyring, Template[]>()

/**
 * Adds a lead that cannot be decrypted: it has realistic values in all indexed and plain columns, and random bytes of a
 * typical length in encrypted ones. It has no tokens, like a lead that the worker has not indexed yet.
 */
function addUndecryptable(tenant: Tenant, keyring: Keyring, n: number, at: Date, sheetOf: RowBufferOf): void {
  const all = undecryptableOf.get(keyring) ?? undecryptableTemplates(tenant, keyring, sheetOf)
  const template = all[(Math.imul(n, 0x9e3779b1) >>> 0) % templates]
  if (template === undefined) throw new Error('Template not found')
  const digits = String(n).padStart(8, '0')
  addCopy(sheetOf('leads'), template, {
    id: idBytes(at.getTime()),
    unique_code: `LB${digits}XX`,
    external_ref: `old-${digits}`,
    email_index: randomBytesOf(16),
    phone_index: randomBytesOf(16),
    created_at: at.getTime(),
    updated_at: at.getTime(),
  })
}

function undecryptableTemplates({ workspaceId, endMs }: Tenant, keyring: Keyring, sheetOf: RowBufferOf): Template[] {
  const at = new Date(endMs)
  const all = Array.from({ length: templates }, (_, n) => {
    const fields = { ...person(firstUndecryptable + n), externalRef: 'old-00000000' }
    const { lead } = newLead({ fields, phoneAsSent: null, typed: [], values: {} }, newId(at), '', at)
    return templateOf(sheetOf('leads'), { workspace_id: workspaceId, ...encryptLead(keyring, lead) })
  })
  undecryptableOf.set(keyring, all)
  return all
}

/** Minutes as feed positions count them: backwards from the end. */
const minuteOf = ({ endMs }: Tenant, at: Date): number => Math.floor((at.getTime() - endMs) / 60_000)

/** Returns the number of leads of the same minute before the n-th, which may belong to another piece. */
function leadsBefore(tenant: Tenant, n: number): number {
  let before = 0
  while (n > before && minuteOf(tenant, leadTime(tenant, n - before - 1)) === minuteOf(tenant, leadTime(tenant, n)))
    before++
  return before
}
