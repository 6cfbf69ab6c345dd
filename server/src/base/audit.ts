import type { Sql, Tx } from './db.ts'
import { newId } from './id.ts'

/** What is worth a line. The word before the dot is the thing, the one behind it what happened to it. */
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
}

/** Adds a line to the log that nobody edits, in the transaction of what it tells. */
export async function recordAudit(tx: Tx, entry: AuditEntry, now: Date): Promise<void> {
  const { scopeId, actor, action, target } = entry
  await tx`
    insert into audit_log (scope_id, id, at, actor_type, actor_id, action, target)
    values (${scopeId}, ${newId(now)}, ${now}, ${actor.type}, ${actor.id}, ${action}, ${target})`
}

/** Newest first; `before` is the id of the last line already seen. */
export async function listAudit(sql: Sql, scopeId: string, limit: number, before: string | null): Promise<AuditRow[]> {
  return sql<AuditRow[]>`
    select id, at, actor_type, actor_id, action, target
    from audit_log
    where scope_id = ${scopeId}
      and (${before}::uuid is null or id < ${before}::uuid)
    order by id desc
    limit ${limit}`
}
