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

/** What a conversation shows of its lead. */
interface ChatLead {
  id: string
  uniqueCode: string
  name: string
  status: string
  assignedTo: string | null
  /** All that it has and had, for the mask. */
  numbers: string[]
}

/** The lead with this phone, in any of its variants; the oldest of several, null when there is none. */
export async function findLeadOfChat(
  { db, keyStore }: LeadDeps,
  workspaceId: string,
  phone: string,
): Promise<ChatLead | null> {
  const keyring = await keyStore.keyring(workspaceId)
  const row = await findLeadByName(db.sql, workspaceId, '', phoneIndexes(keyring, phone))
  return row === undefined ? null : openChatLead(keyring, row)
}

/** The same for many phones, by one statement; those that are nobody's are left out. */
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

/** The phones of the newest leads that a text finds. */
export async function findPhonesOfLeads(deps: ListDeps, workspaceId: string, search: string): Promise<string[]> {
  const user: LeadUser = { ...plainLeadSettings, workspaceId, masked: false, actor: systemActor }
  const leads = await findNewestLeads(deps, user, search, maxFound)
  return leads.flatMap(({ phone, contacts }) => [
    ...new Set([...(phone === null ? [] : [phone]), ...(contacts?.phones ?? [])]),
  ])
}

const maxNameLength = 255

/**
 * Makes leads of customers who wrote and are none, if the workspace wants that. What keeps one of them from being made,
 * as a day's quota that is used up, is told and does not keep the others.
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
 * Makes a lead of a customer who is none. Returns whether it did; one without a phone makes none, since nothing would
 * tell two of them apart. Throws 429 when the day's quota is used up.
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
  // Serialised by the phone: two first messages at the same moment make one lead.
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
