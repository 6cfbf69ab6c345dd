import type { Sql, Tx } from '../base/db.ts'
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
  const { scopeId, action, target } = entry
  await tx`select pg_advisory_xact_lock(hashtextextended(${`audit ${scopeId} ${action} ${target}`}, 0))`
  const counted = await tx`
    update audit_log
    set count = count + 1
    where scope_id = ${scopeId}
      and id >= ${firstIdAt(new Date(now.getTime() - hourMs))}
      and action = ${action}
      and target is not distinct from ${target}`
  if (counted.count === 0) await recordAudit(tx, entry, now)
}

/** One line an hour for what one person does of one thing in several requests: it says of how many. */
export async function addUpAudit(tx: Tx, entry: AuditEntry, count: number, now: Date): Promise<void> {
  const { scopeId, actor, action, target } = entry
  await tx`select pg_advisory_xact_lock(hashtextextended(${`audit ${scopeId} ${action} ${target}`}, 0))`
  const counted = await tx`
    update audit_log
    set count = count + ${count}
    where scope_id = ${scopeId}
      and id >= ${firstIdAt(new Date(now.getTime() - hourMs))}
      and actor_type = ${actor.type}
      and actor_id is not distinct from ${actor.id}::uuid
      and action = ${action}
      and target is not distinct from ${target}`
  if (counted.count === 0) await recordAudit(tx, entry, now, count)
}

/** Newest first; `before` is the id of the last line already seen. */
export async function listAudit(sql: Sql, scopeId: string, limit: number, before: string | null): Promise<AuditRow[]> {
  return sql<AuditRow[]>`
    select id, at, actor_type, actor_id, action, target, count
    from audit_log
    where scope_id = ${scopeId}
      and (${before}::uuid is null or id < ${before}::uuid)
    order by id desc
    limit ${limit}`
}
