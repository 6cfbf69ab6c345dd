import type { Sql } from '../base/db.ts'
import { isUuid } from '../base/id.ts'
import type { Keyring } from '../base/keyring.ts'
import { readPhone } from '../base/phone.ts'
import { leadNotFound } from './errors.ts'
import type { LeadUser } from './lead.ts'
import { findLeadById, findLeadByName } from './queries.ts'
import { type LeadRow, phoneIndex } from './sealed.ts'

/**
 * The live lead that an identifier names: its id, else its uniqueCode, externalRef or phone, in that order. An id
 * that is nobody's may still be a caller's externalRef.
 */
export async function findLead(sql: Sql, keyring: Keyring, user: LeadUser, identifier: string): Promise<LeadRow> {
  const byId = isUuid(identifier) ? await findLeadById(sql, user.workspaceId, identifier) : undefined
  if (byId !== undefined) return byId
  const digits = readPhone(identifier, user.defaultCountry ?? undefined)
  const index = digits === null ? null : phoneIndex(keyring, digits)
  const byName = await findLeadByName(sql, user.workspaceId, identifier, index)
  if (byName === undefined) throw leadNotFound()
  return byName
}
