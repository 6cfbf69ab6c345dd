import { type LookupBudget, unlimited } from '../../auth/rate-limit/lookup-limit.ts'
import { batch } from '../../base/async/batch.ts'
import { isRolledBack, type Sql } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { ApiError } from '../../base/errors.ts'
import { isUuid } from '../../base/id.ts'
import { decryptLead, decryptListedLead, type LeadRow, type ListedLeadRow, phoneIndexes } from './encrypted-lead.ts'
import { containsPhone, type LeadPatch, parsePhones } from './input.ts'
import { type Lead, type LeadDeps, type LeadUser, type ListedLead, leadNotFound } from './lead.ts'
import { findLeadByName, findLeadsByIds, listedLeadColumns } from './queries.ts'

/**
 * Returns the live lead with this id, else with this uniqueCode, externalRef or phone, in that order. An unknown id may
 * still be an externalRef. Throws 404.
 */
export async function findLead(sql: Sql, keyring: Keyring, user: LeadUser, identifier: string): Promise<LeadRow> {
  const [byId] = isUuid(identifier) ? await findLeadsByIds(sql, user.workspaceId, [identifier]) : []
  return byId ?? findByName(sql, keyring, user, identifier)
}

export type LeadReader = (user: LeadUser, identifier: string) => Promise<Lead | ListedLead>

/** Returns a function that reads a lead as `findLead` does; concurrent reads by id share one statement. */
export function makeLeadReader({ db, keyStore }: LeadDeps): LeadReader {
  const findById = batch<string, ListedLeadRow | undefined>({
    maxGroups: 2,
    maxGroupSize: 100,
    work: async (workspaceId, ids) => {
      const rows = await findLeadsByIds<ListedLeadRow>(db.sql, workspaceId, ids, listedLeadColumns(db.sql))
      const byId = new Map(rows.map((row) => [row.id, row]))
      return ids.map((id) => byId.get(id))
    },
    isRolledBack,
  })
  return async (user, identifier) => {
    const keyring = await keyStore.keyring(user.workspaceId)
    const byId = isUuid(identifier) ? await findById(user.workspaceId, identifier.toLowerCase()) : undefined
    if (byId !== undefined) return decryptListedLead(keyring, byId)
    const row = await withLookupLimit(user, { identifier }, () => findByName(db.sql, keyring, user, identifier))
    return decryptLead(keyring, row)
  }
}

async function findByName(sql: Sql, keyring: Keyring, user: LeadUser, identifier: string): Promise<LeadRow> {
  const [digits, otherDigits] = parsePhones(identifier, user.defaultCountry)
  const findByPhone = (phone: string | undefined) =>
    findLeadByName(sql, user.workspaceId, identifier, phone === undefined ? [] : phoneIndexes(keyring, phone))
  const match = (await findByPhone(digits)) ?? (otherDigits === undefined ? undefined : await findByPhone(otherDigits))
  if (match === undefined) throw leadNotFound()
  return match
}

// A caller that sees masked phones may look up numbers it knows, but not probe for numbers: each number that is not
// found, or that replaces another, counts against its lookup limit.

/** Runs a lookup by identifier, or a change of fields, within the caller's lookup limit. */
export async function withLookupLimit<T>(
  user: LeadUser,
  { identifier, patch }: { identifier?: string; patch?: LeadPatch },
  work: (budget: LookupBudget) => Promise<T>,
): Promise<T> {
  if (user.lookupLimit === undefined) return work(unlimited)
  const isNumber = identifier !== undefined && !isUuid(identifier) && mayBeNumber(identifier, user.defaultCountry)
  if (!isNumber && patch?.namesNumber !== true) return work(unlimited)
  return user.lookupLimit.spend(async (budget) => {
    if (budget.remaining() === 0) throw budget.limitError()
    try {
      return await work(budget)
    } catch (error) {
      if (isNumber && error instanceof ApiError && error.statusCode === 404) budget.recordMiss()
      throw error
    }
  })
}

const mayBeNumber = (text: string, defaultCountry: string | null): boolean =>
  parsePhones(text, defaultCountry).length > 0 || containsPhone(text, defaultCountry)

/** Returns true if the change shows that the caller did not know the stored number. */
export function revealsMissingNumber(patch: LeadPatch, before: Lead, lead: Lead): boolean {
  return patch.namesNumber === true && numberFields.some((field) => lead[field] !== before[field])
}

const numberFields = ['phone', 'uniqueCode', 'externalRef'] as const
