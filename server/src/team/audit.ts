import type { Fragment, Sql, Tx } from '../base/db.ts'
import { instanceScope } from '../base/encryption/key-store.ts'
import { firstIdAt, newId } from '../base/id.ts'

/** An entry of the audit log. Actions have the form `<resource>.<what happened>`. */
export interface AuditEntry {
  /** A workspace id, or `instanceScope`. */
  scopeId: string
  actor: { type: 'user' | 'token' | 'agent' | 'system'; id: string | null }
  action: string
  /** Target such as `member:<id>`; never a name, address or other value. */
  target: string | null
  /** Settings with their values before and after; none that says anything of a person. */
  details?: AuditDetails
}

/** The service itself, as an actor. */
export const systemActor = { type: 'system', id: null } as const
export const userActor = (id: string) => ({ type: 'user', id }) as const

/** Returns an entry of a workspace's log. */
export const workspaceEntry = (
  { workspaceId, actor }: { workspaceId: string; actor: AuditEntry['actor'] },
  action: string,
  target: string | null,
): AuditEntry => ({ scopeId: workspaceId, actor, action, target })

/** Returns an entry of the installation's log. */
export const instanceEntry = (actor: AuditEntry['actor'], action: string, target: string | null): AuditEntry => ({
  ...{ scopeId: instanceScope, actor, action, target },
})

export type AuditDetails = Record<string, { before: JsonValue; after: JsonValue }>
type JsonValue = string | number | boolean | null | JsonValue[] | { [name: string]: JsonValue }

export interface AuditRow {
  id: string
  at: Date
  actor_type: AuditEntry['actor']['type']
  actor_id: string | null
  action: string
  target: string | null
  count: number
  details: AuditDetails | null
}

/** Adds an entry to the append-only log, in the transaction of the change. */
export async function recordAudit(tx: Tx, entry: AuditEntry, now: Date, count = 1): Promise<void> {
  const { scopeId, actor, action, target, details } = entry
  await tx`
    insert into audit_log (scope_id, id, at, actor_type, actor_id, action, target, count, details)
    values (
      ${scopeId}, ${newId(now)}, ${now}, ${actor.type}, ${actor.id}, ${action}, ${target}, ${count},
      ${details === undefined ? null : tx.json(details)}::jsonb
    )`.execute()
}

const hourMs = 3_600_000

/**
 * Adds an entry that outsiders can cause at will: one per hour for each action and target, with a count, so that they
 * cannot flood the log.
 */
export async function countAudit(tx: Tx, entry: AuditEntry, now: Date): Promise<void> {
  await addToEntry(tx, entry, tx``, 1, now)
}

/** Adds one entry per hour for an actor's repeated action on one target; `count` sums the affected resources. */
export async function addToAudit(tx: Tx, entry: AuditEntry, count: number, now: Date): Promise<void> {
  const { type, id } = entry.actor
  await addToEntry(tx, entry, tx`and actor_type = ${type} and actor_id is not distinct from ${id}::uuid`, count, now)
}

async function addToEntry(tx: Tx, entry: AuditEntry, ofActor: Fragment, count: number, now: Date): Promise<void> {
  const { scopeId, action, target } = entry
  await tx`select pg_advisory_xact_lock(hashtextextended(${`audit ${scopeId} ${action} ${target}`}, 0))`
  const counted = await tx`
    update audit_log
    set count = count + ${count}
    where scope_id = ${scopeId}
      and id >= ${firstIdAt(new Date(now.getTime() - hourMs))}
      and action = ${action}
      and target is not distinct from ${target}
      ${ofActor}`
  if (counted.count === 0) await recordAudit(tx, entry, now, count)
}

/** Conditions on entries; null for any. */
export interface AuditFilter {
  actorId: string | null
  actorType: AuditRow['actor_type'] | null
  /** The part of the action before the dot. */
  thing: string | null
  /** Such as `api-key:<id>`. */
  target: string | null
  from: Date | null
  to: Date | null
}

export interface AuditPage {
  rows: AuditRow[]
  /** Id from which the next page continues; null at the end. */
  before: string | null
}

// Bounds the cost of a page, even if a filter matches few entries.
const maxRowsRead = 5000

/** Lists entries, newest first. `before` is the last id already seen. A page may be short or empty before the end. */
export async function listAudit(
  sql: Sql,
  scopeId: string,
  filter: AuditFilter,
  { limit, before }: { limit: number; before: string | null },
): Promise<AuditPage> {
  const { actorId, actorType, thing, target, from, to } = filter
  // Ids begin with their time. Those of one process run ahead of it by at most the ids of a burst.
  const first = from === null ? lowestId : firstIdAt(from)
  const end = to === null ? highestId : firstIdAt(new Date(to.getTime() + 1))
  const beyond = before === null || before > end ? end : before
  const rows = await sql<(AuditRow & { reached: string; read: number; id: string | null })[]>`
    with looked_at as materialized (
      select id, at, actor_type, actor_id, action, target, count, details
      from audit_log
      where scope_id = ${scopeId}
        and id >= ${first}::uuid
        and id < ${beyond}::uuid
      order by id desc
      limit ${maxRowsRead}
    ), wanted as (
      select *
      from looked_at
      where (${actorId}::uuid is null or actor_id = ${actorId}::uuid)
        and (${actorType}::text is null or actor_type = ${actorType})
        and (${thing}::text is null or split_part(action, '.', 1) = ${thing})
        and (${target}::text is null or target = ${target})
      order by id desc
      limit ${limit + 1}
    )
    select r.reached, r.read, w.id, w.at, w.actor_type, w.actor_id, w.action, w.target, w.count,
      w.details
    from (
      select count(*)::integer as read, (select id from looked_at order by id limit 1) as reached
      from looked_at
    ) as r
    left join wanted w on true
    order by w.id desc`
  const found = rows.filter((row) => row.id !== null)
  const shown = found.slice(0, limit)
  const [any] = rows
  const isCutShort = any !== undefined && any.read === maxRowsRead
  return { rows: shown, before: found.length > limit ? (shown.at(-1)?.id ?? null) : isCutShort ? any.reached : null }
}

const lowestId = '00000000-0000-0000-0000-000000000000'
const highestId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
