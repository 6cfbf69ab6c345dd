import type { Sql } from '../base/db.ts'
import { isUuid } from '../base/id.ts'
import type { Keyring } from '../base/keyring.ts'
import { leadNotFound } from './errors.ts'
import type { LeadUser } from './lead.ts'
import { findLeadById, findLeadByName } from './queries.ts'
import { readPhones } from './read-phones.ts'
import { type LeadRow, phoneIndexes } from './sealed.ts'

/**
 * The live lead that an identifier names: its id, else its uniqueCode, externalRef or phone, in that order. An id
 * that is nobody's may still be a caller's externalRef.
 */
export async function findLead(sql: Sql, keyring: Keyring, user: LeadUser, identifier: string): Promise<LeadRow> {
  const byId = isUuid(identifier) ? await findLeadById(sql, user.workspaceId, identifier) : undefined
  if (byId !== undefined) return byId
  const [digits, otherDigits] = readPhones(identifier, user.defaultCountry)
  const named = (phone: string | undefined) =>
    findLeadByName(sql, user.workspaceId, identifier, phone === undefined ? [] : phoneIndexes(keyring, phone))
  const byName = (await named(digits)) ?? (otherDigits === undefined ? undefined : await named(otherDigits))
  if (byName === undefined) throw leadNotFound()
  return byName
}
