import type { Sql } from '../base/db.ts'
import type { ErasedCustomer } from '../base/erasure.ts'
import { type ApiError, invalid, notFound, unprocessable } from '../base/errors.ts'
import { phoneProblem, readPhone } from '../base/phone/phone.ts'
import type { Keyring } from '../base/sealing/keyring.ts'
import { findErasedConversations } from '../inbox/erase.ts'
import { findErasedLeads } from '../leads/erase.ts'
import type { Member } from '../team/member.ts'
import { type Naming, namings } from './erasure.ts'
import { type Found, findCustomer } from './find-customer.ts'

/** One of the four. */
export interface CustomerName {
  phone?: string
  email?: string
  leadId?: string
  conversationId?: string
}

const fieldOf: Record<Naming, keyof CustomerName> = {
  phone: 'phone',
  email: 'email',
  lead: 'leadId',
  conversation: 'conversationId',
}

const nobody: ErasedCustomer = {
  phones: [],
  emails: [],
  knownEmails: [],
  userIds: [],
  leadIds: [],
  conversationIds: [],
  mergedIds: [],
}

/** What a customer is shared by at most: an e-mail of more leads is a company's. */
const maxFound = 1000

/** Finds the customer that is named. Throws 400 and 404, and 422 for a name that is shared by a crowd. */
export async function findNamed(
  sql: Sql,
  keyring: Keyring,
  { workspaceId, workspace }: Member,
  name: CustomerName,
  now: Date,
): Promise<Found & { namedBy: Naming }> {
  const namedBy = namingOf(name)
  const named = await readName(sql, keyring, workspaceId, name, workspace.defaultCountry, now)
  const found = await findCustomer(sql, keyring, workspaceId, named, now)
  if (found.leads > maxFound || found.conversations > maxFound) throw tooMany(fieldOf[namedBy])
  return { ...found, namedBy }
}

export function namingOf(name: CustomerName): Naming {
  const [namedBy, other] = namings.filter((one) => name[fieldOf[one]] !== undefined)
  if (namedBy === undefined || other !== undefined) {
    throw invalid('phone', 'or one of email, leadId and conversationId must be given, and only one')
  }
  return namedBy
}

async function readName(
  sql: Sql,
  keyring: Keyring,
  workspaceId: string,
  { phone, email, leadId, conversationId }: CustomerName,
  defaultCountry: string | null,
  now: Date,
): Promise<ErasedCustomer> {
  if (phone !== undefined) return { ...nobody, phones: [readDigits(phone, defaultCountry)] }
  if (email !== undefined) return { ...nobody, emails: [email.trim()] }
  if (leadId !== undefined) {
    const [lead] = await findErasedLeads(sql, keyring, workspaceId, { ...nobody, leadIds: [leadId] }, now)
    if (lead === undefined) throw notFound('Lead not found')
    return { ...nobody, leadIds: [lead.id], phones: listed(lead.phone), emails: listed(lead.email) }
  }
  const ids = listed(conversationId ?? null)
  const [found] = await findErasedConversations({ sql, keyring, workspaceId }, { ...nobody, conversationIds: ids }, now)
  if (found === undefined) throw notFound('Conversation not found')
  return { ...nobody, conversationIds: [found.id], phones: listed(found.phone), userIds: listed(found.userId) }
}

const listed = (value: string | null): string[] => (value === null ? [] : [value])

// Digits that the service showed mean that phone before they mean a national number.
function readDigits(text: string, defaultCountry: string | null): string {
  const digits = (/^\d+$/.test(text) ? readPhone(text) : null) ?? readPhone(text, defaultCountry ?? undefined)
  if (digits === null) throw invalid('phone', phoneProblem(text))
  return digits
}

const tooMany = (field: keyof CustomerName): ApiError =>
  unprocessable(
    `More than ${maxFound.toLocaleString('en')} leads share this ${field === 'email' ? 'e-mail' : 'name'}, so it is not one customer's: name them by phone or leadId`,
  )
