import type { Sql } from '../../src/base/db.ts'
import { type AuditRow, listAudit } from '../../src/team/audit.ts'
import type { World } from './world.ts'

/** Returns the newest entries of a workspace's audit log, by any actor. */
export async function newestAudit(sql: Sql, workspaceId: string, limit = 10): Promise<AuditRow[]> {
  const filter = { actorId: null, actorType: null, thing: null, target: null, from: null, to: null }
  return (await listAudit(sql, workspaceId, filter, { limit, before: null })).rows
}

/** Returns action and subject of the workspace's audit entries whose action has this prefix, in order. */
export async function auditOf({ db, workspaceId }: Pick<World, 'db' | 'workspaceId'>, about: string) {
  const rows = (await newestAudit(db.sql, workspaceId, 100)).filter(({ action }) => action.startsWith(about))
  return rows.toReversed().map(({ action, target }) => [action, target])
}
