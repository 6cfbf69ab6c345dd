import { batch } from '../../base/async/batch.ts'
import { isUndone, type Sql } from '../../base/db.ts'
import { isUuid } from '../../base/id.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import { leadNotFound } from './errors.ts'
import { guessing } from './guessing.ts'
import type { Lead, LeadDeps, LeadUser } from './lead.ts'
import { findLeadByName, findLeadsByIds } from './queries.ts'
import { readPhones } from './read-phones.ts'
import { type LeadRow, openLead, phoneIndexes } from './sealed.ts'

/**
 * The live lead that an identifier names: its id, else its uniqueCode, externalRef or phone, in that order. An id
 * that is nobody's may still be a caller's externalRef.
 */
export async function findLead(sql: Sql, keyring: Keyring, user: LeadUser, identifier: string): Promise<LeadRow> {
  const [byId] = isUuid(identifier) ? await findLeadsByIds(sql, user.workspaceId, [identifier]) : []
  return byId ?? findByName(sql, keyring, user, identifier)
}

export type ReadLead = (user: LeadUser, identifier: string) => Promise<Lead>

/** Reads leads as `findLead` finds them; ids that are asked for while others are being read share one statement. */
export function leadReader({ db, vault }: LeadDeps): ReadLead {
  const findById = batch<string, LeadRow | undefined>({
    groups: 2,
    groupSize: 100,
    work: async (workspaceId, ids) => {
      const rows = await findLeadsByIds(db.sql, workspaceId, ids)
      const byId = new Map(rows.map((row) => [row.id, row]))
      return ids.map((id) => byId.get(id))
    },
    isUndone,
  })
  return async (user, identifier) => {
    const keyring = await vault.keyring(user.workspaceId)
    const byId = isUuid(identifier) ? await findById(user.workspaceId, identifier.toLowerCase()) : undefined
    if (byId !== undefined) return openLead(keyring, byId)
    const row = await guessing(user, { identifier }, () => findByName(db.sql, keyring, user, identifier))
    return openLead(keyring, row)
  }
}

async function findByName(sql: Sql, keyring: Keyring, user: LeadUser, identifier: string): Promise<LeadRow> {
  const [digits, otherDigits] = readPhones(identifier, user.defaultCountry)
  const named = (phone: string | undefined) =>
    findLeadByName(sql, user.workspaceId, identifier, phone === undefined ? [] : phoneIndexes(keyring, phone))
  const byName = (await named(digits)) ?? (otherDigits === undefined ? undefined : await named(otherDigits))
  if (byName === undefined) throw leadNotFound()
  return byName
}
