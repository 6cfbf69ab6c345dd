import type { Sql } from '../../base/db.ts'
import type { StoredConnection } from '../../channels/connection/connection.ts'
import { worstLagKeptMs } from '../../channels/health/activity.ts'
import { silentMs, silentSends, silentSince } from '../../channels/health/health.ts'
import { movingIds } from '../conversation/moving.ts'

export interface Failure {
  code: string
  count: number
  lastAt: Date
}

export interface Health {
  lagMs: number | null
  worstLagMs: number | null
  failures: Failure[]
  /** Messages go out, and nothing has been heard since. */
  isSilent: boolean
}

const dayMs = 86_400_000
const maxCodes = 20

/** How sending and hearing over a connection went of late. */
export async function readHealth(sql: Sql, one: StoredConnection, now: Date): Promise<Health> {
  const [lag, failures, isSilent] = await Promise.all([
    readLag(sql, one, now),
    readFailures(sql, one, new Date(now.getTime() - dayMs)),
    hasSentInVain(sql, one, new Date(now.getTime() - silentMs)),
  ])
  return { ...lag, failures, isSilent }
}

async function readLag(sql: Sql, { workspaceId, id }: StoredConnection, now: Date) {
  const since = new Date(now.getTime() - worstLagKeptMs)
  const [row] = await sql<Pick<Health, 'lagMs' | 'worstLagMs'>[]>`
    select
      lag_ms as "lagMs",
      case when worst_lag_at > ${since} then worst_lag_ms end as "worstLagMs"
    from connections
    where workspace_id = ${workspaceId}
      and id = ${id}`
  return { lagMs: row?.lagMs ?? null, worstLagMs: row?.worstLagMs ?? null }
}

async function readFailures(sql: Sql, { workspaceId, id }: StoredConnection, since: Date): Promise<Failure[]> {
  return sql<Failure[]>`
    select error_code as code, count(*)::integer as count, max(occurred_at) as "lastAt"
    from messages
    where workspace_id = ${workspaceId}
      and connection_id = ${id}
      and error_code is not null
      and occurred_at > ${since}
      and status = 'failed'
      and origin = 'live'
    group by error_code
    order by count(*) desc, error_code
    limit ${maxCodes}`
}

/**
 * Whether the platform accepted some sends since anything was heard, all of them long enough ago to have told of. Goes by
 * the conversations that changed since: few, when nothing arrives.
 */
async function hasSentInVain(sql: Sql, one: StoredConnection, before: Date): Promise<boolean> {
  const since = silentSince(one)
  if (since >= before) return false
  const rows = await sql`
    select 1
    from conversations c
    join messages m
      on m.workspace_id = c.workspace_id
      and m.conversation_id = c.id
      and m.occurred_at > ${since}
      and m.occurred_at <= ${before}
    where c.workspace_id = ${one.workspaceId}
      and c.connection_id = ${one.id}
      and (c.updated_at > ${since} or c.id = any (array(${movingIds(sql, one.workspaceId)})))
      and m.direction = 'outbound'
      and m.origin = 'live'
      and m.external_index is not null
    limit ${silentSends}`
  return rows.length === silentSends
}
