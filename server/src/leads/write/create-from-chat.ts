import type { Sql, Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { InvalidInput } from '../../base/errors.ts'
import { defaultLeadSettings } from '../../base/lead-settings.ts'
import { byteaArray } from '../../base/postgres/values.ts'
import { isBlank } from '../../base/text/external-text.ts'
import { systemActor } from '../../workspaces/actor.ts'
import { decryptLead, emailIndexes, type LeadRow, phoneIndexes } from '../lead/encrypted-lead.ts'
import { type LeadPatch, parseLeadPatch } from '../lead/input.ts'
import type { AdPlatform, Lead, LeadDeps, LeadUser } from '../lead/lead.ts'
import { otherPhoneNumbers } from '../lead/present.ts'
import { findLeadByName, findOldestByPhones } from '../lead/queries.ts'
import { phonesOf, toList } from '../lead/search-lines.ts'
import { findNewestLeads, type ListDeps } from '../search/list.ts'
import { recordTouch, type Touch } from '../sources/attribution.ts'
import { createClaimedLead } from './create.ts'
import { upsertLeads } from './upsert.ts'

export interface ChatCustomer {
  name: string | null
  /** Digits with country code; null while the customer hides it. */
  phone: string | null
  /** Known only of visitors of a website. */
  email?: string | null
  /** The platform of the ad that brought the customer. */
  adPlatform: AdPlatform | null
  /** How they came, if that is known and the lead does not exist yet. */
  touch?: Touch
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
export async function findChatLead(
  { db, keyStore }: LeadDeps,
  workspaceId: string,
  phone: string,
): Promise<ChatLead | null> {
  const keyring = await keyStore.keyring(workspaceId)
  const row = await findLeadByName(db.sql, workspaceId, '', phoneIndexes(keyring, phone))
  return row === undefined ? null : decryptChatLead(keyring, row)
}

/** Does the same for many phones in one statement; phones without a lead are missing in the result. */
export async function findChatLeads(
  { db, keyStore }: Pick<LeadDeps, 'db' | 'keyStore'>,
  workspaceId: string,
  phones: readonly string[],
): Promise<ReadonlyMap<string, ChatLead>> {
  if (phones.length === 0) return new Map()
  return keyStore.withKeyring(workspaceId, async (keyring) => {
    const lookups = phones.flatMap((phone) => phoneIndexes(keyring, phone).map((index) => ({ phone, index })))
    const indexes = lookups.map(({ index }) => index)
    const rows = await findOldestByPhones(db.sql, workspaceId, indexes)
    const found = new Map<string, ChatLead>()
    for (const row of rows) {
      const phone = lookups[row.place - 1]?.phone
      if (phone !== undefined && !found.has(phone)) found.set(phone, decryptChatLead(keyring, row))
    }
    return found
  })
}

function decryptChatLead(keyring: Keyring, row: LeadRow): ChatLead {
  const lead = decryptLead(keyring, row)
  const { id, uniqueCode, firstName, lastName, status, assignedTo, phone } = lead
  const numbers = [...toList(phone), ...otherPhoneNumbers(lead)]
  return { id, uniqueCode, name: [firstName, lastName].filter(Boolean).join(' '), status, assignedTo, numbers }
}

const maxFound = 50

/** Returns the phones of the newest leads that match a search text. */
export async function findLeadPhones(deps: ListDeps, workspaceId: string, search: string): Promise<string[]> {
  const user: LeadUser = { ...defaultLeadSettings, workspaceId, masked: false, actor: systemActor }
  const leads = await findNewestLeads(deps, user, search, maxFound)
  return leads.flatMap(phonesOf)
}

const maxNameLength = 255

/**
 * Creates leads for customers who wrote and have none, if the workspace has this enabled. Reports errors, such as a
 * used-up quota, to `onError` and continues with the next customer.
 */
export async function createLeadsFromChat(
  deps: LeadDeps,
  workspaceId: string,
  customers: readonly ChatCustomer[],
  onError: (error: unknown) => void,
): Promise<void> {
  if (!(await isEnabled(deps.db.sql, workspaceId))) return
  for (const customer of customers) await createLeadFromChat(deps, workspaceId, customer).catch(onError)
}

/**
 * Creates a lead for a customer who has none. Returns false if one exists, or without phone and e-mail: nothing would
 * distinguish two customers. An existing lead is not changed. Throws 429 if the day's quota is used up.
 */
export async function createLeadFromChat(
  deps: LeadDeps,
  workspaceId: string,
  customer: ChatCustomer,
): Promise<boolean> {
  const { name, phone, email = null, adPlatform, touch } = customer
  if (phone === null && email === null) return false
  const keyring = await deps.keyStore.keyring(workspaceId)
  if (phone !== null && (await findLeadByName(deps.db.sql, workspaceId, '', phoneIndexes(keyring, phone)))) return false
  if (email !== null && (await hasEmail(deps.db.sql, workspaceId, emailIndexes(keyring, email)))) return false
  const user: LeadUser = { ...defaultLeadSettings, workspaceId, masked: false, actor: systemActor }
  const trimmedName = [...(name ?? '').trim()].slice(0, maxNameLength).join('').trim()
  const firstName = isBlank(trimmedName) ? (phone === null ? (email ?? '') : `+${phone}`) : trimmedName
  const changes = { firstName, source: 'chat_app', adPlatform, ...(phone !== null && { phone }) } as const
  const { patch, issues } = parseLeadPatch({ ...changes, ...(email !== null && { email }) }, [], { ...user, at: '' })
  if (issues.length > 0) throw new InvalidInput(issues)
  const keepTouch = async (tx: Tx, { id }: Pick<Lead, 'id'>) => {
    if (touch !== undefined) await recordTouch(tx, keyring, workspaceId, id, touch)
  }
  if (phone === null) return createByEmail(deps, user, patch, email ?? '', keepTouch)
  // The upsert is serialized by phone: two simultaneous first messages create one lead.
  const item = { by: 'phone', value: phone, patch, createIfMissing: true, at: '' } as const
  const [outcome] = await upsertLeads(deps, user, [item], {
    ...{ continueOnError: true, dryRun: false },
    inTransaction: async (tx, [made]) => {
      if (made?.action === 'created') await keepTouch(tx, made.lead)
    },
  })
  if (outcome?.action === 'failed') throw outcome.error
  return outcome?.action === 'created'
}

class LeadExists extends Error {}

/** Creates a lead without a phone; two simultaneous first messages with an address create one. */
async function createByEmail(
  deps: LeadDeps,
  user: LeadUser,
  patch: LeadPatch,
  email: string,
  claim: (tx: Tx, lead: Lead) => Promise<void>,
): Promise<boolean> {
  const { workspaceId } = user
  const keyring = await deps.keyStore.keyring(workspaceId)
  const lock = keyring.stable('leads.chat', email.toLowerCase()).toString('hex')
  try {
    await createClaimedLead(deps, user, patch, [], async (tx, lead) => {
      await tx`select pg_advisory_xact_lock(hashtextextended(${`lead ${workspaceId} ${lock}`}, 0))`
      if (await hasEmail(tx, workspaceId, emailIndexes(keyring, email))) throw new LeadExists()
      await claim(tx, lead)
    })
    return true
  } catch (error) {
    if (error instanceof LeadExists) return false
    throw error
  }
}

async function hasEmail(sql: Sql, workspaceId: string, indexes: readonly Buffer[]): Promise<boolean> {
  const rows = await sql`
    select id
    from leads
    where workspace_id = ${workspaceId}
      and email_index = any (${byteaArray(indexes)}::bytea[])
      and deleted_at is null
    limit 1`
  return rows.length > 0
}

async function isEnabled(sql: Sql, workspaceId: string): Promise<boolean> {
  const [row] = await sql<{ leads_from_chat: boolean }[]>`
    select leads_from_chat
    from workspaces
    where id = ${workspaceId}`
  return row?.leads_from_chat ?? false
}
