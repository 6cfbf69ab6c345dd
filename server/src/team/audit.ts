import type { Fragment, Sql, Tx } from '../base/db.ts'
import { firstIdAt, newId } from '../base/id.ts'

/** What is worth a line. The word before the dot is the thing, the one after it what happened to it. */
export interface AuditEntry {
  /** A workspace id, or `instanceScope`. */
  scopeId: string
  actor: { type: 'user' | 'token' | 'agent' | 'system'; id: string | null }
  action: string
  /** `member:<id>`; never a name, address or other value. */
  target: string | null
}

export interface AuditRow {
  id: string
  at: Date
  actor_type: AuditEntry['actor']['type']
  actor_id: string | null
  action: string
  target: string | null
  count: number
}

/** Adds a line to the log that nobody edits, in the transaction of what it tells. */
export async function recordAudit(tx: Tx, entry: AuditEntry, now: Date, count = 1): Promise<void> {
  const { scopeId, actor, action, target } = entry
  await tx`
    insert into audit_log (scope_id, id, at, actor_type, actor_id, action, target, count)
    values (${scopeId}, ${newId(now)}, ${now}, ${actor.type}, ${actor.id}, ${action}, ${target}, ${count})`.execute()
}

const hourMs = 3_600_000

/**
 * For what strangers can make happen at will: one line an hour for each action and target says how often, so that no
 * storm fills the log.
 */
export async function countAudit(tx: Tx, entry: AuditEntry, now: Date): Promise<void> {
  await addTo(tx, entry, tx``, 1, now)
}

/** One line an hour for what one person does of one thing in several requests: it says of how many. */
export async function addUpAudit(tx: Tx, entry: AuditEntry, count: number, now: Date): Promise<void> {
  const { type, id } = entry.actor
  await addTo(tx, entry, tx`and actor_type = ${type} and actor_id is not distinct from ${id}::uuid`, count, now)
}

async function addTo(tx: Tx, entry: AuditEntry, ofActor: Fragment, count: number, now: Date): Promise<void> {
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

/** Which lines are wanted; null is any. */
export interface AuditFilter {
  actorId: string | null
  actorType: AuditRow['actor_type'] | null
  /** The word before the dot of the action. */
  thing: string | null
  from: Date | null
  to: Date | null
}

export interface AuditPage {
  rows: AuditRow[]
  /** The id that the next page goes on with; null at the end. */
  before: string | null
}

// However rare what a filter wants is, a page costs no more than this.
const readAtMost = 5000

/** Newest first; `before` is the id of the last line already seen. A page may be short or empty, and yet not the last. */
export async function listAudit(
  sql: Sql,
  scopeId: string,
  filter: AuditFilter,
  { limit, before }: { limit: number; before: string | null },
): Promise<AuditPage> {
  const { actorId, actorType, thing, from, to } = filter
  // Ids begin with their time, and those of one process run ahead of it at most by what it makes in a burst.
  const first = from === null ? lowestId : firstIdAt(from)
  const end = to === null ? highestId : firstIdAt(new Date(to.getTime() + 1))
  const beyond = before === null || before > end ? end : before
  const rows = await sql<(AuditRow & { reached: string; read: number; id: string | null })[]>`
    with looked_at as materialized (
      select id, at, actor_type, actor_id, action, target, count
      from audit_log
      where scope_id = ${scopeId}
        and id >= ${first}::uuid
        and id < ${beyond}::uuid
      order by id desc
      limit ${readAtMost}
    ), wanted as (
      select *
      from looked_at
      where (${actorId}::uuid is null or actor_id = ${actorId}::uuid)
        and (${actorType}::text is null or actor_type = ${actorType})
        and (${thing}::text is null or split_part(action, '.', 1) = ${thing})
      order by id desc
      limit ${limit + 1}
    )
    select r.reached, r.read, w.id, w.at, w.actor_type, w.actor_id, w.action, w.target, w.count
    from (
      select count(*)::integer as read, (select id from looked_at order by id limit 1) as reached
      from looked_at
    ) as r
    left join wanted w on true
    order by w.id desc`
  const found = rows.filter((row) => row.id !== null)
  const shown = found.slice(0, limit)
  const [any] = rows
  const isCutShort = any !== undefined && any.read === readAtMost
  return { rows: shown, before: found.length > limit ? (shown.at(-1)?.id ?? null) : isCutShort ? any.reached : null }
}

const lowestId = '00000000-0000-0000-0000-000000000000'
const highestId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
