import type { Db, Sql } from '../base/db.ts'
import type { Keyring } from '../base/encryption/keyring.ts'
import { newId } from '../base/id.ts'
import { defaultLeadSettings } from '../base/lead-settings.ts'
import { phoneClass } from '../base/phone/phone-variants.ts'
import { violates } from '../base/postgres/failures.ts'
import { unnested } from '../base/postgres/rows.ts'
import { byteaArray } from '../base/postgres/values.ts'
import type { Decisions } from '../consents/consent.ts'
import { findConsents } from '../consents/store.ts'
import type { ChangeTx } from '../inbox/conversation/conversation.ts'
import { inWorkspace } from '../inbox/conversation/conversation.ts'
import { phoneIndexes } from '../inbox/conversation/encrypted-conversation.ts'
import { countryOf } from '../inbox/costs/markets.ts'
import type { Lead } from '../leads/lead/lead.ts'
import { listLeadsOnce } from '../leads/search/list.ts'
import { resolveFilter } from '../leads/search/list-filter.ts'
import { parseListRequest } from '../leads/search/list-request.ts'
import { type Broadcast, type BroadcastDeps, lockBroadcast, storeBroadcast } from './broadcast.ts'
import { type CostEstimate, openEstimate } from './estimate.ts'
import { fillVariant, variantOf } from './variables.ts'

/** Why a lead is left out when the audience is frozen; the first that applies. */
export const exclusions = [
  'no_number',
  'missing_value',
  'opted_out',
  'not_opted_in',
  'country',
  'recently_refused',
  'recently_written',
  'duplicate',
  'over_budget',
] as const
export type Exclusion = (typeof exclusions)[number]

export const maxRecipients = 100_000
const pageSize = 500
/** How long the platform wants a customer left alone after it has refused a message to protect them. */
export const ecosystemPauseMs = 86_400_000
const dayMs = 86_400_000
const leaseMs = 60_000

/** What is known of a lead besides its fields. */
export interface RecipientFacts {
  consents: Decisions
  /** In upper case. */
  category: string
  country: string | null
  /** Whether the platform has refused a message in the last 24 hours to protect them from too many (131049). */
  isRefused: boolean
  /** Whether they got a template within the quiet days. */
  isWrittenTo: boolean
  /** Whether the lead has a value for every variable. */
  isComplete: boolean
}

/** Returns why a lead is left out, apart from repeated numbers and budgets; null if it is not. */
export function findExclusion(
  phone: string | null,
  { consents, category, country, isRefused, isWrittenTo, isComplete }: RecipientFacts,
  { optInOnly }: { optInOnly: boolean },
): Exclusion | null {
  if (phone === null) return 'no_number'
  if (!isComplete) return 'missing_value'
  const isMarketing = category === 'MARKETING'
  const decision = isMarketing ? consents.marketing : category === 'UTILITY' ? consents.utility : null
  if (decision?.decision === 'opted_out') return 'opted_out'
  if (optInOnly && consents.marketing?.decision !== 'opted_in') return 'not_opted_in'
  // The platform delivers no marketing to numbers of the United States.
  if (isMarketing && country === 'US') return 'country'
  if (isMarketing && isRefused) return 'recently_refused'
  return isWrittenTo ? 'recently_written' : null
}

interface NewRecipient {
  id: string
  leadId: string
  variant: number
  reason: Exclusion | null
  phoneKey: string | null
  country: string | null
}

/**
 * Freezes the next page of the audience, oldest leads first, as of the start of the freezing. Returns false at its end,
 * or if another process has done the page.
 */
export async function freezePage(deps: BroadcastDeps, broadcast: Broadcast): Promise<boolean> {
  const { workspaceId, cursor, updatedAt } = broadcast
  const { filter } = parseListRequest(broadcast.filter)
  const startedAt = broadcast.startedAt ?? updatedAt
  const user = { ...defaultLeadSettings, workspaceId, masked: false, actor: broadcast.actor }
  const page = await listLeadsOnce(deps.leads, user, {
    filter: { ...resolveFilter(filter, startedAt), createdTo: earlier(filter.createdTo, startedAt) },
    sort: { by: 'createdAt', order: 'asc' },
    ...{ limit: pageSize, page: 1, cursor },
  })
  return inWorkspace(deps.sends, workspaceId, async (work) => {
    const current = await lockBroadcast(work, broadcast.id)
    if (current.state !== 'collecting' || current.cursor !== cursor || +(current.startedAt ?? 0) !== +startedAt)
      return false
    if ((current.counts?.leads ?? 0) + page.leads.length > maxRecipients) {
      const ended = { state: 'draft' as const, reason: 'too_many', cursor: null, startedAt: null, nextAt: null }
      await storeBroadcast(work, current, ended)
      return false
    }
    const estimate = await openEstimate(work, current)
    const recipients = await judge(work, current, page.leads, estimate)
    await insertRecipients(work, current.id, recipients)
    const counts = { ...countsAfter(current, recipients), ...estimate.sums() }
    const isLast = page.nextCursor === null
    await storeBroadcast(work, current, {
      ...{ counts, cursor: page.nextCursor },
      ...(isLast && { state: 'ready' as const, startedAt: null }),
      nextAt: isLast ? null : new Date(work.now.getTime() + leaseMs),
    })
    return !isLast
  })
}

const earlier = (a: Date | null, b: Date): Date => (a !== null && a < b ? a : b)

async function judge(
  work: ChangeTx,
  broadcast: Broadcast,
  leads: readonly Lead[],
  estimate: CostEstimate,
): Promise<NewRecipient[]> {
  const { tx, keyring, workspaceId, now } = work
  const phones = leads.flatMap(({ phone }) => phone ?? [])
  const [consents, categories, history] = await Promise.all([
    findConsents(
      tx,
      keyring,
      workspaceId,
      phones.map((phone) => ({ phone, userId: null })),
    ),
    readCategories(tx, broadcast),
    readHistory(tx, keyring, workspaceId, phones, { now, quietDays: broadcast.options.quietDays }),
  ])
  const consentOf = new Map(phones.map((phone, n) => [phone, consents[n]]))
  const taken = await readTaken(tx, keyring, broadcast, phones)
  return leads.map((lead) => {
    const { phone } = lead
    const key = phone === null ? null : phoneKeyOf(keyring, broadcast.id, phone)
    const variant = variantOf(key ?? lead.id, broadcast.variants)
    const chosen = broadcast.variants[variant]
    const country = phone === null ? null : countryOf({ phone, userId: null })
    const facts: RecipientFacts = {
      ...{ country, category: categories[variant] ?? '', ...historyOf(history, keyring, phone) },
      consents: consentOf.get(phone ?? '') ?? { marketing: null, utility: null },
      isComplete: chosen !== undefined && fillVariant(chosen, lead) !== null,
    }
    const found = findExclusion(phone, facts, broadcast.options)
    const reason = found ?? (key !== null && taken.has(key) ? 'duplicate' : estimate.add(country, facts.category))
    if (reason === null && key !== null) taken.add(key)
    return { id: newId(now), leadId: lead.id, variant, reason, phoneKey: reason === null ? key : null, country }
  })
}

/** A digest in the form of an id: only numbers within one broadcast are compared. */
export const phoneKeyOf = (keyring: Keyring, broadcastId: string, phone: string): string =>
  keyring.stable('broadcast.phone', `${broadcastId} ${phoneClass(phone)}`).toString('hex')

/** Stores the number that a lead has got since the audience was frozen. Returns false if another recipient has it. */
export async function takeNumber(
  db: Db,
  { workspaceId, id: broadcastId }: Broadcast,
  id: string,
  phoneKey: string,
): Promise<boolean> {
  try {
    const { count } = await db.tx(
      (tx) => tx`
        update broadcast_recipients
        set phone_key = ${phoneKey}
        where workspace_id = ${workspaceId}
          and broadcast_id = ${broadcastId}
          and id = ${id}
          and status = 'pending'`,
    )
    return count === 1
  } catch (error) {
    if (violates(error, 'broadcast_recipients_phone')) return false
    throw error
  }
}

async function readTaken(
  sql: Sql,
  keyring: Keyring,
  { workspaceId, id }: Broadcast,
  phones: readonly string[],
): Promise<Set<string>> {
  const keys = phones.map((phone) => phoneKeyOf(keyring, id, phone))
  const rows = await sql<{ key: string }[]>`
    select replace(phone_key::text, '-', '') as key
    from broadcast_recipients
    where workspace_id = ${workspaceId}
      and broadcast_id = ${id}
      and phone_key = any (${keys}::uuid[])`
  return new Set(rows.map(({ key }) => key))
}

/** Returns the categories of the variants' templates, in upper case; empty for one that is gone. */
export async function readCategories(
  sql: Sql,
  { workspaceId, connectionId, variants }: Pick<Broadcast, 'workspaceId' | 'connectionId' | 'variants'>,
): Promise<string[]> {
  const rows = await sql<{ name: string; language: string; category: string }[]>`
    select name, language, upper(category) as category
    from templates
    where workspace_id = ${workspaceId}
      and connection_id = ${connectionId}
      and name = any (${variants.map(({ template }) => template.name)}::text[])`
  return variants.map(
    ({ template: { name, language } }) =>
      rows.find((row) => row.name === name && row.language === language)?.category ?? '',
  )
}

/** Templates to a number: by any of its digests. */
type History = ReadonlyMap<string, { isRefused: boolean; isWrittenTo: boolean }>

/** Reads which of these phones lately got a template, or were refused one. */
async function readHistory(
  sql: Sql,
  keyring: Keyring,
  workspaceId: string,
  phones: readonly string[],
  { now, quietDays }: { now: Date; quietDays: number },
): Promise<History> {
  const quietSince = new Date(now.getTime() - quietDays * dayMs)
  const refusedSince = new Date(now.getTime() - ecosystemPauseMs)
  const rows = await sql<{ digest: string; isRefused: boolean; isWrittenTo: boolean }[]>`
    select encode(c.phone_index, 'hex') as digest, bool_or(m.refused) as "isRefused", bool_or(m.written) as "isWrittenTo"
    from conversations c
    cross join lateral (
      select coalesce(bool_or(error_code = '131049' and occurred_at > ${refusedSince}), false) as refused,
        coalesce(bool_or(kind = 'template' and status <> 'failed' and occurred_at > ${quietSince}), false) as written
      from messages
      where workspace_id = ${workspaceId}
        and conversation_id = c.id
        and direction = 'outbound'
        and occurred_at > ${quietSince < refusedSince ? quietSince : refusedSince}
    ) m
    where c.workspace_id = ${workspaceId}
      and c.phone_index is not null
      and c.phone_index = any (${byteaArray(phones.flatMap((phone) => phoneIndexes(keyring, phone)))}::bytea[])
    group by c.phone_index`
  return new Map(rows.map(({ digest, ...found }) => [digest, found]))
}

function historyOf(history: History, keyring: Keyring, phone: string | null) {
  const found =
    phone === null || history.size === 0
      ? []
      : phoneIndexes(keyring, phone).flatMap((digest) => history.get(digest.toString('hex')) ?? [])
  return { isRefused: found.some((one) => one.isRefused), isWrittenTo: found.some((one) => one.isWrittenTo) }
}

async function insertRecipients(
  { tx, workspaceId, now }: ChangeTx,
  broadcastId: string,
  recipients: readonly NewRecipient[],
): Promise<void> {
  await tx`
    insert into broadcast_recipients (
      workspace_id, id, broadcast_id, lead_id, phone_key, variant, status, reason, country, created_at
    )
    select ${workspaceId}::uuid, n.id, ${broadcastId}::uuid, n.lead_id, n.phone_key, n.variant,
      case when n.reason is null then 'pending' else 'excluded' end, n.reason, n.country, ${now}::timestamptz
    from ${unnested(recipients, { uuid: ['id', 'leadId', 'phoneKey'], integer: ['variant'], text: ['reason', 'country'] })}`
}

function countsAfter({ counts }: Broadcast, recipients: readonly NewRecipient[]) {
  const excluded = { ...counts?.excluded }
  for (const { reason } of recipients) if (reason !== null) excluded[reason] = (excluded[reason] ?? 0) + 1
  const included = recipients.filter(({ reason }) => reason === null).length
  return {
    leads: (counts?.leads ?? 0) + recipients.length,
    included: (counts?.included ?? 0) + included,
    excluded,
  }
}
