import type { Sql } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { InvalidInput } from '../../base/errors.ts'
import { plainLeadSettings } from '../../base/lead-settings.ts'
import { isBlank } from '../../base/text/external-text.ts'
import { systemActor } from '../../workspaces/actor.ts'
import { type LeadRow, openLead, phoneIndexes } from '../lead/encrypted-lead.ts'
import { readLeadPatch } from '../lead/input.ts'
import type { AdPlatform, LeadDeps, LeadUser } from '../lead/lead.ts'
import { otherNumbers } from '../lead/present.ts'
import { findLeadByName, findOldestOfPhones } from '../lead/queries.ts'
import { findNewestLeads, type ListDeps } from '../search/list.ts'
import { upsertLeads } from './upsert.ts'

export interface ChatCustomer {
  name: string | null
  /** Digits with country code; null while the customer hides it. */
  phone: string | null
  /** The platform of the ad that brought the customer. */
  adPlatform: AdPlatform | null
}

/** Lead data shown in a conversation. */
interface ChatLead {
  id: string
  uniqueCode: string
  name: string
  status: string
  assignedTo: string | null
  /** All phones of the lead, former ones included, for masking. */
  numbers: string[]
}

/** Returns the oldest lead with this phone in any of its variants, or null. */
export async function findLeadOfChat(
  { db, keyStore }: LeadDeps,
  workspaceId: string,
  phone: string,
): Promise<ChatLead | null> {
  const keyring = await keyStore.keyring(workspaceId)
  const row = await findLeadByName(db.sql, workspaceId, '', phoneIndexes(keyring, phone))
  return row === undefined ? null : openChatLead(keyring, row)
}

/** Does the same for many phones in one statement; phones without a lead are missing in the result. */
export async function findLeadsOfChats(
  { db, keyStore }: Pick<LeadDeps, 'db' | 'keyStore'>,
  workspaceId: string,
  phones: readonly string[],
): Promise<ReadonlyMap<string, ChatLead>> {
  if (phones.length === 0) return new Map()
  return keyStore.withKeyring(workspaceId, async (keyring) => {
    const wanted = phones.flatMap((phone) => phoneIndexes(keyring, phone).map((index) => ({ phone, index })))
    const rows = await findOldestOfPhones(
      db.sql,
      workspaceId,
      wanted.map(({ index }) => index),
    )
    const found = new Map<string, ChatLead>()
    for (const row of rows) {
      const phone = wanted[row.place - 1]?.phone
      if (phone !== undefined && !found.has(phone)) found.set(phone, openChatLead(keyring, row))
    }
    return found
  })
}

function openChatLead(keyring: Keyring, row: LeadRow): ChatLead {
  const lead = openLead(keyring, row)
  const { id, uniqueCode, firstName, lastName, status, assignedTo, phone } = lead
  const numbers = [...(phone === null ? [] : [phone]), ...otherNumbers(lead)]
  return { id, uniqueCode, name: [firstName, lastName].filter(Boolean).join(' '), status, assignedTo, numbers }
}

const maxFound = 50

/** Returns the phones of the newest leads that match a search text. */
export async function findPhonesOfLeads(deps: ListDeps, workspaceId: string, search: string): Promise<string[]> {
  const user: LeadUser = { ...plainLeadSettings, workspaceId, masked: false, actor: systemActor }
  const leads = await findNewestLeads(deps, user, search, maxFound)
  return leads.flatMap(({ phone, contacts }) => [
    ...new Set([...(phone === null ? [] : [phone]), ...(contacts?.phones ?? [])]),
  ])
}

const maxNameLength = 255

/**
 * Creates leads for customers who wrote and have none, if the workspace has this enabled. Reports errors, such as a
 * used-up quota, to `onError` and continues with the next customer.
 */
export async function leadsFromChat(
  deps: LeadDeps,
  workspaceId: string,
  customers: readonly ChatCustomer[],
  onError: (error: unknown) => void,
): Promise<void> {
  if (!(await wantsLeads(deps.db.sql, workspaceId))) return
  for (const customer of customers) await leadFromChat(deps, workspaceId, customer).catch(onError)
}

/**
 * Creates a lead for a customer who has none. Returns false if one exists or the phone is unknown: nothing would
 * distinguish two customers without a phone. Throws 429 if the day's quota is used up.
 */
export async function leadFromChat(deps: LeadDeps, workspaceId: string, customer: ChatCustomer): Promise<boolean> {
  const { name, phone, adPlatform } = customer
  if (phone === null) return false
  const keyring = await deps.keyStore.keyring(workspaceId)
  const known = await findLeadByName(deps.db.sql, workspaceId, '', phoneIndexes(keyring, phone))
  if (known !== undefined) return false
  const user: LeadUser = { ...plainLeadSettings, workspaceId, masked: false, actor: systemActor }
  const shown = [...(name ?? '').trim()].slice(0, maxNameLength).join('').trim()
  const firstName = isBlank(shown) ? `+${phone}` : shown
  const { patch, issues } = readLeadPatch({ firstName, phone, source: 'chat_app', adPlatform }, [], { ...user, at: '' })
  // The upsert is serialized by phone: two simultaneous first messages create one lead.
  if (issues.length > 0) throw new InvalidInput(issues)
  const item = { by: 'phone', value: phone, patch, createIfMissing: true, at: '' } as const
  const [outcome] = await upsertLeads(deps, user, [item], { continueOnError: true, dryRun: false })
  if (outcome?.action === 'failed') throw outcome.error
  return outcome?.action === 'created'
}

async function wantsLeads(sql: Sql, workspaceId: string): Promise<boolean> {
  const [row] = await sql<{ leads_from_chat: boolean }[]>`
    select leads_from_chat
    from workspaces
    where id = ${workspaceId}`
  return row?.leads_from_chat ?? false
}
