import type { Clock } from '../base/clock.ts'
import type { Db, Sql } from '../base/db.ts'
import type { KeyStore } from '../base/encryption/key-store.ts'
import type { Keyring } from '../base/encryption/keyring.ts'
import type { ErasedCustomer, ErasurePart, RemovedCounts } from '../base/erasure.ts'
import { type ApiError, invalid, notFound, unprocessable } from '../base/errors.ts'
import { parsePhone, phoneProblem } from '../base/phone/phone.ts'
import { phoneClass } from '../base/phone/phone-variants.ts'
import type { RunStep } from '../base/run-step.ts'
import type { WorkspaceSql } from '../inbox/conversation/conversation.ts'
import { findErasedConversations } from '../inbox/erase.ts'
import { findErasedLeads } from '../leads/erase.ts'
import { toList } from '../leads/lead/search-lines.ts'
import type { TeamActor } from '../team/member.ts'

export interface ErasureDeps {
  db: Db
  keyStore: KeyStore
  clock: Clock
  /** Parts to erase, in order. Each module provides its own. */
  parts: readonly ErasurePart[]
  /** Runs the steps, so that tests can interrupt them: `write` is inside a transaction, `commit` around it. */
  step: RunStep<'write' | 'commit'>
}

export const identifierKinds = ['phone', 'email', 'lead', 'conversation'] as const
/** The field that identified a customer. */
type IdentifierKind = (typeof identifierKinds)[number]

export interface ErasureRow {
  workspace_id: string
  id: string
  state: 'running' | 'done'
  named_by: IdentifierKind
  subject: Buffer | null
  part: number
  place: string | null
  removed: RemovedCounts
  actor_type: TeamActor['type']
  actor_id: string
  due_at: Date
  created_at: Date
  finished_at: Date | null
}

const subjectContext = (id: string) => ({ table: 'erasures', row: id, column: 'subject' })

export function encryptSubject(keyring: Keyring, id: string, customer: ErasedCustomer): Buffer {
  return keyring.encrypt(subjectContext(id), JSON.stringify(customer))
}

export function decryptSubject(keyring: Keyring, id: string, encrypted: Buffer): ErasedCustomer {
  return JSON.parse(keyring.decryptText(subjectContext(id), encrypted)) as ErasedCustomer
}

export async function findErasure(sql: Sql, workspaceId: string, id: string): Promise<ErasureRow | undefined> {
  const [row] = await sql<ErasureRow[]>`
    select *
    from erasures
    where workspace_id = ${workspaceId}
      and id = ${id}`
  return row
}

const maxListed = 50

export async function listErasures(sql: Sql, workspaceId: string): Promise<ErasureRow[]> {
  return sql<ErasureRow[]>`
    select *
    from erasures
    where workspace_id = ${workspaceId}
    order by id desc
    limit ${maxListed}`
}

/** A search for the data of a customer from before a time. */
interface CustomerSearch extends WorkspaceSql {
  before: Date
}

interface FoundCustomer {
  customer: ErasedCustomer
  /** Numbers of existing leads and conversations among them. */
  leads: number
  conversations: number
}

/**
 * Finds everything in the workspace that belongs to the customer, as of a time: first leads with these ids, phones or
 * e-mails, then leads and conversations with the phones of those, then conversations of the same users. E-mails of
 * leads found this way are not followed, because colleagues and families share them.
 */
export async function findCustomer(search: CustomerSearch, named: ErasedCustomer): Promise<FoundCustomer> {
  const { before } = search
  const first = await findErasedLeads(search, named, before)
  const firstConversations = await findErasedConversations(search, named, before)
  const allPhones = [
    ...named.phones,
    ...first.flatMap(({ phone, otherPhones }) => [...toList(phone), ...otherPhones]),
    ...firstConversations.flatMap(({ phone }) => toList(phone)),
  ]
  const phones = [...new Map(allPhones.map((phone) => [phoneClass(phone), phone])).values()]
  const wider = { ...named, phones }
  const leads = await findErasedLeads(search, wider, before)
  const ofPhones = await findErasedConversations(search, wider, before)
  const userIds = distinct([...named.userIds, ...ofPhones.flatMap(({ userId }) => userId ?? [])])
  const conversations = await findErasedConversations(search, { ...wider, userIds }, before)
  return {
    customer: {
      phones,
      emails: named.emails,
      knownEmails: distinct([
        ...named.knownEmails,
        ...leads.flatMap(({ email, otherEmails }) => [...toList(email), ...otherEmails]),
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

/** Exactly one of the four. */
export interface CustomerIdentifier {
  phone?: string
  email?: string
  leadId?: string
  conversationId?: string
}

const fieldOf: Record<IdentifierKind, keyof CustomerIdentifier> = {
  phone: 'phone',
  email: 'email',
  lead: 'leadId',
  conversation: 'conversationId',
}

const emptyCustomer: ErasedCustomer = {
  phones: [],
  emails: [],
  knownEmails: [],
  userIds: [],
  leadIds: [],
  conversationIds: [],
  mergedIds: [],
}

/** Maximum number of leads or conversations of one customer. An e-mail with more leads belongs to a company. */
const maxFound = 1000

/** Finds the identified customer. Throws 400 and 404, and 422 if too many leads share the value. */
export async function findIdentifiedCustomer(
  search: CustomerSearch,
  name: CustomerIdentifier,
  defaultCountry: string | null,
): Promise<FoundCustomer & { namedBy: IdentifierKind }> {
  const namedBy = identifierKindOf(name)
  const found = await findCustomer(search, await resolveIdentifier(search, name, defaultCountry))
  if (found.leads > maxFound || found.conversations > maxFound) throw tooManyMatches(fieldOf[namedBy])
  return { ...found, namedBy }
}

function identifierKindOf(name: CustomerIdentifier): IdentifierKind {
  const [namedBy, other] = identifierKinds.filter((one) => name[fieldOf[one]] !== undefined)
  if (namedBy === undefined || other !== undefined) {
    throw invalid('phone', 'or email, leadId or conversationId is required, and only one of them')
  }
  return namedBy
}

async function resolveIdentifier(
  search: CustomerSearch,
  { phone, email, leadId, conversationId }: CustomerIdentifier,
  defaultCountry: string | null,
): Promise<ErasedCustomer> {
  if (phone !== undefined) return { ...emptyCustomer, phones: [parseDigits(phone, defaultCountry)] }
  if (email !== undefined) return { ...emptyCustomer, emails: [email.trim()] }
  if (leadId !== undefined) {
    const [lead] = await findErasedLeads(search, { ...emptyCustomer, leadIds: [leadId] }, search.before)
    if (lead === undefined) throw notFound('Lead not found')
    return { ...emptyCustomer, leadIds: [lead.id], phones: toList(lead.phone), emails: toList(lead.email) }
  }
  const named = { ...emptyCustomer, conversationIds: toList(conversationId ?? null) }
  const [found] = await findErasedConversations(search, named, search.before)
  if (found === undefined) throw notFound('Conversation not found')
  return { ...emptyCustomer, conversationIds: [found.id], phones: toList(found.phone), userIds: toList(found.userId) }
}

// Digits as shown by the service are parsed as international first, then as a national number.
function parseDigits(text: string, defaultCountry: string | null): string {
  const digits = (/^\d+$/.test(text) ? parsePhone(text) : null) ?? parsePhone(text, defaultCountry ?? undefined)
  if (digits === null) throw invalid('phone', phoneProblem(text))
  return digits
}

const tooManyMatches = (field: keyof CustomerIdentifier): ApiError =>
  unprocessable(
    `More than ${maxFound.toLocaleString('en')} leads share this ${field === 'email' ? 'e-mail' : 'name'}, so it is not one customer's: name them by phone or leadId`,
  )
