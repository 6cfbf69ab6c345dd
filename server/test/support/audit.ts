import type { Sql } from '../../src/base/db.ts'
import { type AuditRow, listAudit } from '../../src/team/audit.ts'

/** The newest lines of a workspace's audit log, whoever did what. */
export async function newestAudit(sql: Sql, workspaceId: string, limit = 10): Promise<AuditRow[]> {
  const filter = { actorId: null, actorType: null, thing: null, from: null, to: null }
  return (await listAudit(sql, workspaceId, filter, { limit, before: null })).rows
}
