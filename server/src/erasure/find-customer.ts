import type { Sql } from '../base/db.ts'
import type { ErasedCustomer } from '../base/erasure.ts'
import { phoneClass } from '../base/phone/phone-variants.ts'
import type { Keyring } from '../base/sealing/keyring.ts'
import { findErasedConversations } from '../inbox/erase.ts'
import { findErasedLeads } from '../leads/erase.ts'

export interface Found {
  customer: ErasedCustomer
  /** Of the leads and conversations in it, how many are there. */
  leads: number
  conversations: number
}

/**
 * Everything in the workspace that is the customer's, as of a moment: the leads with these ids, phones or e-mails, then the
 * leads and conversations with the phones of those, then the conversations of the same users. E-mails of leads that are
 * found on the way lead no further: colleagues share them, and families.
 */
export async function findCustomer(
  sql: Sql,
  keyring: Keyring,
  workspaceId: string,
  named: ErasedCustomer,
  before: Date,
): Promise<Found> {
  const first = await findErasedLeads(sql, keyring, workspaceId, named, before)
  const begun = await findErasedConversations({ sql, keyring, workspaceId }, named, before)
  const phones = distinctPhones([...named.phones, ...phonesOf(first), ...others(first), ...phonesOf(begun)])
  const wider = { ...named, phones }
  const leads = await findErasedLeads(sql, keyring, workspaceId, wider, before)
  const ofPhones = await findErasedConversations({ sql, keyring, workspaceId }, wider, before)
  const userIds = distinct([...named.userIds, ...ofPhones.flatMap(({ userId }) => userId ?? [])])
  const conversations = await findErasedConversations({ sql, keyring, workspaceId }, { ...wider, userIds }, before)
  return {
    customer: {
      phones,
      emails: named.emails,
      knownEmails: distinct([
        ...named.knownEmails,
        ...leads.flatMap(({ email, otherEmails }) => [...(email === null ? [] : [email]), ...otherEmails]),
      ]),
      userIds,
      leadIds: distinct([...named.leadIds, ...leads.map(({ id }) => id)]),
      conversationIds: distinct([...named.conversationIds, ...conversations.map(({ id }) => id)]),
      mergedIds: distinct([...named.mergedIds, ...conversations.flatMap(({ aliases }) => aliases)]),
    },
    leads: leads.length,
    conversations: conversations.length,
  }
}

const distinct = (values: readonly string[]): string[] => [...new Set(values)]

function distinctPhones(phones: readonly string[]): string[] {
  return [...new Map(phones.map((phone) => [phoneClass(phone), phone])).values()]
}

const others = (found: readonly { otherPhones: string[] }[]): string[] => found.flatMap((one) => one.otherPhones)

const phonesOf = (found: readonly { phone: string | null }[]): string[] => found.flatMap(({ phone }) => phone ?? [])
