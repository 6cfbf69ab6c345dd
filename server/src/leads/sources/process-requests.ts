import { forEachDue } from '../../base/async/for-each.ts'
import type { Clock } from '../../base/clock.ts'
import type { Db, Sql, Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { ApiError, InvalidInput, type Issue } from '../../base/errors.ts'
import { type LeadSettings, leadSettingsColumns } from '../../base/lead-settings.ts'
import type { Log } from '../../base/log.ts'
import { byteaArray } from '../../base/postgres/values.ts'
import { type DueWatch, watchDueWork } from '../../base/pubsub.ts'
import { parseJson } from '../../channels/waba/json.ts'
import { systemActor } from '../../workspaces/actor.ts'
import { fieldsInUse, withAgentRules } from '../fields/lead-fields.ts'
import type { TypedField } from '../lead/custom-fields.ts'
import { decryptLead, emailIndexes, phoneIndexes } from '../lead/encrypted-lead.ts'
import { parseBulkItem, parsePhones, type UpsertItem } from '../lead/input.ts'
import type { Lead, LeadUser } from '../lead/lead.ts'
import { findLeadByName } from '../lead/queries.ts'
import { createClaimedLead } from '../write/create.ts'
import { upsertLeads } from '../write/upsert.ts'
import { createTouch, recordTouch, type Touch, utmFields } from './attribution.ts'
import { answersOf, type LeadAdDeps, openLeadAdConnection, readLeadAd, touchOfLeadAd } from './lead-ads.ts'
import { applyMapping, type Mapped } from './mapping.ts'
import {
  decryptRequest,
  endRequest,
  postponeRequest,
  type RequestResult,
  requestColumns,
  requestsTopic,
  type SourceRequest,
} from './requests.ts'
import { findSource, type LeadSource } from './source.ts'

/** Requests of a workspace in a round, in order: a later one may change the same lead. */
const batchSize = 20
const workspacesAtOnce = 8
const leaseMs = 120_000
/** After this, the rest of a round waits for the end of its lease: a slow platform keeps no other workspace waiting. */
const maxRoundMs = 30_000
const pollEveryMs = 60_000
/** About a day. */
const maxAttempts = 30
const firstDelayMs = 30_000
const hourMs = 3_600_000

export interface SourceDeps extends LeadAdDeps {
  log: Log
}

/** Watches for requests of lead sources that are due. */
export function watchSourceRequests({ db, clock }: { db: Db; clock: Clock }): DueWatch {
  const nextAt = async () => {
    const [row] = await db.sql<{ at: Date | null }[]>`
      select min(next_at) as at
      from lead_source_requests
      where next_at is not null`
    return row?.at ?? null
  }
  return watchDueWork({ db, clock }, { nextAt, pollEveryMs, watchedTopics: [{ topic: requestsTopic }] })
}

/**
 * Makes leads of what sources have sent. The transaction that writes the lead ends the request, so that it works once,
 * whichever process dies when. Returns how many it has worked on.
 */
export async function processSourceRequests(deps: SourceDeps, forMs = maxRoundMs): Promise<number> {
  const listDue = async () => {
    const rows = await deps.db.sql<{ id: string }[]>`
      select distinct workspace_id as id
      from lead_source_requests
      where next_at <= ${deps.clock.now()}`
    return rows.map(({ id }) => id)
  }
  return forEachDue(listDue, workspacesAtOnce, (workspaceId) => processWorkspace(deps, workspaceId, forMs))
}

async function processWorkspace(deps: SourceDeps, workspaceId: string, forMs: number): Promise<number> {
  const requests = await claimDue(deps, workspaceId)
  const endsAt = performance.now() + forMs
  for (const request of requests) {
    try {
      await processRequest(deps, workspaceId, request)
    } catch (error) {
      // The lease ends, and the next run tries again.
      deps.log.warn('failed to process a request of a lead source; retrying in 2 min', { workspaceId }, error)
    }
    if (performance.now() >= endsAt) break
  }
  return requests.length
}

function claimDue({ db, keyStore, clock }: SourceDeps, workspaceId: string): Promise<SourceRequest[]> {
  const now = clock.now()
  return keyStore.withKeyring(workspaceId, async (keyring) => {
    const rows = await db.tx(
      (tx) => tx<Parameters<typeof decryptRequest>[1][]>`
        with due as (
          select id
          from lead_source_requests
          where workspace_id = ${workspaceId}
            and next_at <= ${now}
          order by next_at
          limit ${batchSize}
          for update skip locked
        )
        update lead_source_requests r
        set next_at = ${new Date(now.getTime() + leaseMs)}
        from due
        where r.workspace_id = ${workspaceId}
          and r.id = due.id
        returning ${requestColumns(tx)}`,
    )
    return rows.map((row) => decryptRequest(keyring, row)).sort((a, b) => (a.id < b.id ? -1 : 1))
  })
}

async function processRequest(deps: SourceDeps, workspaceId: string, request: SourceRequest): Promise<void> {
  const keyring = await deps.keyStore.keyring(workspaceId)
  const source = await findSource(deps.db.sql, keyring, workspaceId, request.sourceId)
  // Deleted while this one was being received.
  if (source === undefined) return discard(deps, workspaceId, request)
  const read = await readContent(deps, workspaceId, source, request)
  if ('retry' in read) return
  if ('problem' in read) return fail(deps, workspaceId, request, [{ path: '', message: read.problem }])
  await makeLead(deps, { workspaceId, source, request, ...read })
}

type Read = { payload: unknown; touch: Touch } | { problem: string } | { retry: true }

/** Returns what is mapped. Leads of ads are read from the platform, and kept: a later attempt needs no second call. */
async function readContent(
  deps: SourceDeps,
  workspaceId: string,
  source: LeadSource,
  request: SourceRequest,
): Promise<Read> {
  const { content, receivedAt } = request
  if (content.kind === 'form') {
    const payload = Object.fromEntries([...new URLSearchParams(content.body)].slice(0, 500))
    return { payload, touch: createTouch('webhook', receivedAt, {}) }
  }
  if (content.kind === 'json') {
    const payload = parseJson(content.body)
    return payload === null
      ? { problem: 'The body is not JSON' }
      : { payload, touch: createTouch('webhook', receivedAt, {}) }
  }
  if (content.lead !== null) return { payload: answersOf(content.lead), touch: touchOfLeadAd(content.lead, receivedAt) }
  const connection = await openLeadAdConnection(deps, workspaceId, source)
  if (connection === null) return { problem: 'The connection of this source was removed' }
  const answer = await readLeadAd(deps, connection, content.leadId)
  if ('lead' in answer) {
    const { lead } = answer
    await change(deps, workspaceId, (work) =>
      postponeRequest(work, request, {
        at: new Date(deps.clock.now().getTime() + leaseMs),
        content: { ...content, lead },
        isAttempt: false,
      }),
    )
    return { payload: answersOf(lead), touch: touchOfLeadAd(lead, receivedAt) }
  }
  const problem = `The platform refused to show this lead (${answer.errorCode}). Check that the token has leads_retrieval and access to the page.`
  if (answer.isRefused || request.attempts >= maxAttempts) return { problem }
  const delayMs = Math.min(firstDelayMs * 2 ** request.attempts, hourMs)
  const at = new Date(deps.clock.now().getTime() + delayMs)
  await change(deps, workspaceId, (work) => postponeRequest(work, request, { at, isAttempt: true }))
  return { retry: true }
}

function change<T>(
  { db, keyStore }: SourceDeps,
  workspaceId: string,
  work: (at: { tx: Tx; keyring: Keyring; workspaceId: string }) => Promise<T>,
): Promise<T> {
  return keyStore.withKeyring(workspaceId, (keyring) => db.tx((tx) => work({ tx, keyring, workspaceId })))
}

async function discard({ db }: SourceDeps, workspaceId: string, { id }: SourceRequest): Promise<void> {
  await db.statement(
    (tx) => tx`
      delete from lead_source_requests
      where workspace_id = ${workspaceId}
        and id = ${id}`,
  )
}

async function fail(
  deps: SourceDeps,
  workspaceId: string,
  request: SourceRequest,
  issues: readonly Issue[],
  fields: Record<string, string> = {},
): Promise<void> {
  const result = { action: null, fields, issues: issues.map(({ path, message }) => ({ path, message })) }
  await change(deps, workspaceId, (work) => endRequest(work, request, result, null))
}

interface LeadToMake {
  workspaceId: string
  source: LeadSource
  request: SourceRequest
  payload: unknown
  touch: Touch
}

async function makeLead(deps: SourceDeps, one: LeadToMake): Promise<void> {
  const { workspaceId, source, request } = one
  const { sql } = deps.db
  const mapped = applyMapping(one.payload, source.settings.mapping)
  const touch = { ...createTouch(one.touch.channel, one.touch.at, { ...mapped.touch }), ...one.touch }
  const user = await readUser(sql, workspaceId)
  const fields = shownFields(mapped)
  const match = matchOf(source, mapped)
  if (user === null || match === null) {
    const message = user === null ? 'The workspace cannot have leads' : `${source.settings.match} has no value here`
    return fail(deps, workspaceId, request, [{ path: 'match', message }], fields)
  }
  const existing = await findExisting(deps, user, match)
  const item = await parseItem(sql, user, { mapped, match, existing, touch, kind: source.kind })
  if (item instanceof ApiError) return refuse(deps, one, item, fields)
  const patch = await withAgentRules(sql, user, item.patch)
  const keyring = await deps.keyStore.keyring(workspaceId)
  const end = async (tx: Tx, lead: Pick<Lead, 'id'>, action: 'created' | 'updated') => {
    const result: RequestResult = { action, fields, issues: [] }
    if (!(await endRequest({ tx, keyring, workspaceId }, request, result, lead.id))) throw new EndedElsewhere()
    await recordTouch(tx, keyring, workspaceId, lead.id, touch)
  }
  try {
    if (match.by === 'email' && existing === null) {
      await createByEmail(deps, user, patch, match.value, (tx, lead) => end(tx, lead, 'created'))
      return
    }
    const [outcome] = await upsertLeads(deps, user, [{ ...item, patch }], {
      ...{ continueOnError: true, dryRun: false },
      inTransaction: async (tx, [made]) => {
        if (made !== undefined && made.action !== 'failed') await end(tx, made.lead, made.action)
      },
    })
    if (outcome?.action === 'failed') await refuse(deps, one, outcome.error, fields)
  } catch (error) {
    if (error instanceof EndedElsewhere) return
    if (!(error instanceof ApiError) || error.statusCode >= 500) throw error
    await refuse(deps, one, error, fields)
  }
}

/** Another process has made the lead; nothing of this transaction stays. */
class EndedElsewhere extends Error {}

/** A used-up quota postpones the request; everything else is for people to correct. */
async function refuse(
  deps: SourceDeps,
  { workspaceId, request }: LeadToMake,
  error: ApiError,
  fields: Record<string, string>,
) {
  if (error.statusCode === 429) {
    const at = new Date(deps.clock.now().getTime() + hourMs)
    return change(deps, workspaceId, (work) => postponeRequest(work, request, { at, isAttempt: false }))
  }
  if (!(error instanceof InvalidInput)) {
    return fail(deps, workspaceId, request, [{ path: String(error.data?.field ?? ''), message: error.message }], fields)
  }
  // The matched value is a field too, and has the same problem there.
  const issues = error.issues.filter(({ path }) => path !== 'match.value' || error.issues.length === 1)
  const named = issues.map(({ path, message }) => ({ path: path.replace(/^lead\./, ''), message }))
  await fail(deps, workspaceId, request, named, fields)
}

async function readUser(sql: Sql, workspaceId: string): Promise<LeadUser | null> {
  const [row] = await sql<LeadSettings[]>`
    select ${leadSettingsColumns}
    from workspaces w
    where w.id = ${workspaceId}
      and w.leads_enabled`
  return row === undefined ? null : { ...row, workspaceId, masked: false, actor: systemActor }
}

interface Match {
  by: 'phone' | 'email' | 'externalRef'
  value: string
}

/** Without a phone, the e-mail finds the lead: forms often ask for either. */
function matchOf({ settings: { match } }: LeadSource, { lead }: Mapped): Match | null {
  for (const by of match === 'phone' ? (['phone', 'email'] as const) : [match]) {
    const value = lead[by]
    if (typeof value === 'string') return { by, value }
  }
  return null
}

async function findExisting(deps: SourceDeps, user: LeadUser, { by, value }: Match): Promise<Lead | null> {
  const { workspaceId, defaultCountry } = user
  const { sql } = deps.db
  return deps.keyStore.withKeyring(workspaceId, async (keyring) => {
    if (by === 'email') {
      const [row] = await sql<{ code: string }[]>`
        select unique_code as code
        from leads
        where workspace_id = ${workspaceId}
          and email_index = any (${byteaArray(emailIndexes(keyring, value))}::bytea[])
          and deleted_at is null
        order by created_at, id
        limit 1`
      const found = row === undefined ? undefined : await findLeadByName(sql, workspaceId, row.code, [])
      return found === undefined ? null : decryptLead(keyring, found)
    }
    const phones = by === 'phone' ? parsePhones(value, defaultCountry).reverse() : []
    const indexes = phones.flatMap((phone) => phoneIndexes(keyring, phone))
    const row = await findLeadByName(sql, workspaceId, by === 'phone' ? '' : value, indexes)
    return row === undefined ? null : decryptLead(keyring, row)
  })
}

interface ItemToParse {
  mapped: Mapped
  match: Match
  existing: Lead | null
  touch: Touch
  kind: LeadSource['kind']
}

async function parseItem(sql: Sql, user: LeadUser, one: ItemToParse): Promise<UpsertItem | InvalidInput> {
  const { mapped, match, existing, touch, kind } = one
  const known = await fieldsInUse(sql, user.workspaceId)
  const custom = Object.entries(mapped.custom)
  const typed: TypedField[] = custom
    .filter(([key]) => !known.has(key))
    .map(([key, value]) => ({ key, label: key, type: 'text', value: value.slice(0, 255) }))
  const customFieldValues = Object.fromEntries(custom.filter(([key]) => known.has(key)))
  const { phone, email } = mapped.lead
  const isAd = kind === 'lead_ads' || touch.fbclid !== undefined
  const adPlatform = isAd ? 'meta' : touch.gclid === undefined ? null : 'google'
  // What a person has set in a lead that exists stays.
  const defaults =
    existing === null
      ? { firstName: phone ?? email ?? match.value, source: adPlatform === null ? 'other' : 'ads', adPlatform }
      : {}
  const lead = { ...defaults, ...mapped.lead, customFieldValues }
  const by =
    match.by !== 'email'
      ? match
      : { by: existing === null ? ('externalRef' as const) : ('id' as const), value: existing?.id ?? match.value }
  const body = { match: by, lead, createIfMissing: match.by !== 'email' }
  return parseBulkItem(body, { defaultCountry: user.defaultCountry, masked: false, at: '' }, typed)
}

class LeadExists extends Error {}

/** Creates a lead that has no phone; two simultaneous requests with an address create one. */
async function createByEmail(
  deps: SourceDeps,
  user: LeadUser,
  patch: UpsertItem['patch'],
  email: string,
  claim: (tx: Tx, lead: Lead) => Promise<void>,
): Promise<void> {
  const { workspaceId } = user
  const keyring = await deps.keyStore.keyring(workspaceId)
  const lock = keyring.stable('leads.chat', email.toLowerCase()).toString('hex')
  await createClaimedLead(deps, user, patch, [], async (tx, lead) => {
    await tx`select pg_advisory_xact_lock(hashtextextended(${`lead ${workspaceId} ${lock}`}, 0))`
    const rows = await tx`
      select id
      from leads
      where workspace_id = ${workspaceId}
        and email_index = any (${byteaArray(emailIndexes(keyring, email))}::bytea[])
        and deleted_at is null
      limit 1`
    // The request keeps its lease, and the next run updates that lead.
    if (rows.length > 0) throw new LeadExists('A lead with this address was just created')
    await claim(tx, lead)
  })
}

/** Values for the test page, by the names that a mapping has for them, cut as far as a page shows them. */
function shownFields({ lead, custom, touch }: Mapped): Record<string, string> {
  const named = [
    ...Object.entries(lead),
    ...Object.entries(custom).map(([key, value]) => [`custom.${key}`, value] as const),
    ...Object.entries(touch).map(([key, value]) => [isUtm(key) ? `utm_${key}` : key, value] as const),
  ]
  const known = named.filter(([, value]) => typeof value === 'string' || typeof value === 'number')
  return Object.fromEntries(known.map(([key, value]) => [key, String(value).slice(0, 255)]))
}

const isUtm = (key: string): boolean => utmFields.some((one) => one === key)
