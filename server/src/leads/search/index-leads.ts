import type { Clock } from '../../base/clock.ts'
import type { Db, Sql, Tx } from '../../base/db.ts'
import { decryptOrNull } from '../../base/encryption/encrypt.ts'
import type { KeyStore } from '../../base/encryption/key-store.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { type ChangedIds, collectChangedIds } from '../../base/pubsub.ts'
import { sequencedTopic } from '../../events/sequence.ts'
import { decryptPerson, type LeadRow } from '../lead/encrypted-lead.ts'
import { isLeadEvent } from '../lead/events.ts'
import { searchTokens, tokenRulesVersion } from '../lead/search-lines.ts'

export interface IndexDeps {
  db: Db
  keyStore: KeyStore
}

const maxRunMs = 2_000
const batch = 500
// Searches are correct without tokens, only slower, so changes missed by pub/sub may wait this long.
const allEveryMs = 30_000

/** Subscribes to feed changes and collects the workspaces to index. */
export const collectChangedFeeds = (deps: { db: Db; clock: Clock }): ChangedIds =>
  collectChangedIds(deps, { topics: [sequencedTopic], allEveryMs })

/** Indexes the collected workspaces, or searches for all workspaces with pending events. */
export async function indexChangedFeeds(deps: IndexDeps, changedFeeds: ChangedIds): Promise<number> {
  const workspaceIds = changedFeeds.take()
  if (workspaceIds?.length === 0) return 0
  // Only after a complete run: a run that times out or fails leaves some workspaces behind.
  let isDone = false
  try {
    const { processed, isTimedOut } = await indexPending(deps, workspaceIds)
    isDone = !isTimedOut
    return processed
  } finally {
    if (!isDone) changedFeeds.takeAllNext()
  }
}

/**
 * Updates the search tokens of created and changed leads, for at most two seconds: follows the feed of every workspace,
 * then renews tokens of an earlier rule version. Returns the number of processed events and leads. Several workers can
 * run it: each locks other workspaces. A workspace that fails does not block the others; its error is thrown at the
 * end.
 */
export async function indexLeads(deps: IndexDeps): Promise<number> {
  return (await indexPending(deps, null)).processed
}

/** Indexes these workspaces, or all. `isOver` is true if the time ran out. */
async function indexPending(deps: IndexDeps, workspaceIds: readonly string[] | null) {
  const endsAt = performance.now() + maxRunMs
  let processed = 0
  const failures: unknown[] = []
  for (;;) {
    let roundCount = 0
    // One batch per workspace and round, so that a workspace that imports a file does not block others.
    for (const workspaceId of await listPending(deps.db.sql, workspaceIds)) {
      if (performance.now() > endsAt) return { processed, isTimedOut: true }
      const count = await indexNext(deps, workspaceId).catch((error: unknown) => {
        failures.push(error)
        return 0
      })
      roundCount += count
      processed += count
    }
    if (failures.length > 0) throw failures[0]
    if (roundCount === 0) return { processed, isTimedOut: false }
  }
}

/** Returns the feed position up to which the tokens of the workspace are current. */
export async function readIndexedPosition(sql: Sql, workspaceId: string): Promise<number> {
  const [row] = await sql<{ position: number }[]>`
    select position
    from lead_search_feeds
    where workspace_id = ${workspaceId}`
  return row?.position ?? 0
}

async function listPending(sql: Sql, workspaceIds: readonly string[] | null): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select f.workspace_id as id
    from event_feeds f
    left join lead_search_feeds s on s.workspace_id = f.workspace_id
    where (f.last_position > coalesce(s.position, 0) or s.rules < ${tokenRulesVersion})
      ${workspaceIds === null ? sql`` : sql`and f.workspace_id = any (${[...workspaceIds]}::uuid[])`}
    limit 1000`
  return rows.map(({ id }) => id)
}

function indexNext({ db, keyStore }: IndexDeps, workspaceId: string): Promise<number> {
  return keyStore.withKeyring(workspaceId, (keyring) =>
    db.tx(async (tx) => {
      const progress = await lockProgress(tx, workspaceId)
      if (progress === undefined) return 0
      if (progress.from < progress.to) return followFeed(tx, keyring, workspaceId, progress)
      return progress.rules < tokenRulesVersion ? renewNext(tx, keyring, workspaceId, progress) : 0
    }),
  )
}

/** Progress of the tokens of a workspace: in the feed, and in renewing tokens of earlier rules. */
interface IndexProgress {
  from: number
  to: number
  rules: number
  renewedTo: string | null
}

/** Updates the tokens of the leads in the next batch of events. */
async function followFeed(tx: Tx, keyring: Keyring, workspaceId: string, progress: IndexProgress): Promise<number> {
  // All events up to that position are committed, and leads are read later, so they are at least that recent.
  const events = await tx<{ position: number; subjectId: string; isOfLead: boolean }[]>`
    select position, subject_id as "subjectId", ${isLeadEvent(tx)} as "isOfLead"
    from events
    where workspace_id = ${workspaceId}
      and position > ${progress.from}
      and position <= ${progress.to}
    order by position
    limit ${batch}`
  const ids = new Set(events.flatMap(({ subjectId, isOfLead }) => (isOfLead ? subjectId : [])))
  await renewTokens(tx, keyring, workspaceId, [...ids])
  const newPosition = events.length === batch ? events.at(-1)?.position : progress.to
  await tx`
    update lead_search_feeds
    set position = ${newPosition ?? progress.to}
    where workspace_id = ${workspaceId}`
  return Math.max(1, events.length)
}

/**
 * Renews the tokens of the next batch of leads that have tokens. Leads without tokens are still ahead in the feed,
 * which uses the current rules.
 */
async function renewNext(tx: Tx, keyring: Keyring, workspaceId: string, { renewedTo }: IndexProgress): Promise<number> {
  const rows = await tx<{ id: string }[]>`
    select lead_id as id
    from lead_search
    where workspace_id = ${workspaceId}
      ${renewedTo === null ? tx`` : tx`and lead_id > ${renewedTo}`}
    order by lead_id
    limit ${batch}`
  const ids = rows.map(({ id }) => id)
  await renewTokens(tx, keyring, workspaceId, ids)
  const last = ids.length === batch ? ids.at(-1) : undefined
  await tx`
    update lead_search_feeds
    set ${last === undefined ? tx`rules = ${tokenRulesVersion}, renewed_to = null` : tx`renewed_to = ${last}`}
    where workspace_id = ${workspaceId}`
  return Math.max(1, ids.length)
}

/** Locks the progress row; undefined while another worker has it. */
async function lockProgress(tx: Tx, workspaceId: string): Promise<IndexProgress | undefined> {
  await tx`
    insert into lead_search_feeds (workspace_id, position, rules)
    values (${workspaceId}, 0, ${tokenRulesVersion})
    on conflict do nothing`
  const [progress] = await tx<IndexProgress[]>`
    select s.position as from, f.last_position as to, s.rules, s.renewed_to as "renewedTo"
    from lead_search_feeds s
    join event_feeds f on f.workspace_id = s.workspace_id
    where s.workspace_id = ${workspaceId}
    for update of s skip locked`
  return progress
}

interface LeadTokensRow extends Pick<LeadRow, 'id' | 'uniqueCode' | 'externalRef' | 'person'> {
  is_live: boolean
  index_version: number | null
  tokens: number[] | null
}

/** Writes tokens that differ from the stored ones. Most changes of a lead do not affect its searchable text. */
async function renewTokens(tx: Tx, keyring: Keyring, workspaceId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  const leads = await readLeads(tx, workspaceId, ids)
  const renewed = leads.flatMap((lead) => {
    const tokens = lead.is_live ? tokensOf(keyring, lead) : null
    const isCurrent = lead.index_version === keyring.indexVersion && String(tokens) === String(lead.tokens)
    return tokens === null || isCurrent ? [] : { id: lead.id, tokens }
  })
  const deletedIds = leads.flatMap((lead) => (lead.is_live || lead.tokens === null ? [] : lead.id))
  if (renewed.length > 0) await tokenUpsertStatement(tx, keyring, workspaceId, renewed)
  if (deletedIds.length > 0) {
    await tx`
      delete from lead_search
      where workspace_id = ${workspaceId}
        and lead_id = any (${deletedIds}::uuid[])`
  }
}

// Looked up one by one: `limit` keeps the planner from other plans. The statistics of a growing workspace are outdated,
// and with them a full scan may seem cheaper.
async function readLeads(tx: Tx, workspaceId: string, ids: readonly string[]): Promise<LeadTokensRow[]> {
  return tx<LeadTokensRow[]>`
    select l.*, s.*
    from unnest(${ids as string[]}::uuid[]) as i (id)
    cross join lateral (
      select id, unique_code as "uniqueCode", external_ref as "externalRef", person, deleted_at is null as is_live
      from leads
      where workspace_id = ${workspaceId}
        and id = i.id
      limit 1
    ) as l
    left join lateral (
      select index_version, tokens
      from lead_search
      where workspace_id = ${workspaceId}
        and lead_id = i.id
      limit 1
    ) as s on true
    order by i.id`
}

/** Returns null for a lead that cannot be decrypted: it is not searchable, and must not block the others. */
function tokensOf(keyring: Keyring, lead: LeadTokensRow): number[] | null {
  const person = decryptOrNull(() => decryptPerson(keyring, lead.id, lead.person))
  if (person === null) return null
  const [firstName, lastName, email, phone, contacts] = person
  const { uniqueCode, externalRef } = lead
  return searchTokens(keyring, { firstName, lastName, email, phone, contacts, uniqueCode, externalRef })
}

export function tokenUpsertStatement(
  tx: Tx,
  keyring: Keyring,
  workspaceId: string,
  leads: readonly { id: string; tokens: readonly number[] }[],
) {
  // Token lists have different lengths, which a two-dimensional array cannot hold, so they are sent as text.
  return tx`
    insert into lead_search (workspace_id, lead_id, index_version, tokens)
    select ${workspaceId}::uuid, r.id, ${keyring.indexVersion}::integer, r.tokens::integer[]
    from unnest(${leads.map(({ id }) => id)}::uuid[], ${leads.map(({ tokens }) => `{${tokens}}`)}::text[]) as r (id, tokens)
    on conflict (workspace_id, lead_id)
    do update set tokens = excluded.tokens, index_version = excluded.index_version`
}
