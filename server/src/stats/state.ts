import { listNamedKeys } from '../access/people/people.ts'
import type { Sql } from '../base/db.ts'
import { countUnanswered } from '../inbox/read/unanswered-counts.ts'
import { readQuota } from '../leads/lead/quota.ts'
import { findWorkspace } from '../workspace/workspace.ts'
import type { ConnectionInfo, State, WebhookInfo } from './attention.ts'

/** How things stand in a workspace. Secrets and addresses stay sealed: nothing of them is asked here. */
export async function readState(
  sql: Sql,
  workspaceId: string,
  { waitingBefore, now }: { waitingBefore: Date; now: Date },
): Promise<State> {
  const [workspace, quota, waiting, connections, webhooks, keys] = await Promise.all([
    findWorkspace(sql, workspaceId),
    readQuota(sql, workspaceId, now),
    countUnanswered(sql, workspaceId, waitingBefore),
    selectConnections(sql, workspaceId),
    selectWebhooks(sql, workspaceId),
    listNamedKeys(sql, workspaceId),
  ])
  return { agentsStopped: workspace?.agents_stopped ?? false, quota, waiting, connections, webhooks, keys }
}

async function selectConnections(sql: Sql, workspaceId: string): Promise<ConnectionInfo[]> {
  return sql<ConnectionInfo[]>`
    select id, name, channel, state, state_reason as "stateReason", state_changed_at as "stateChangedAt",
      acknowledged_at as "acknowledgedAt", coalesce(last_event_in_at, last_event_out_at) as "lastEventAt"
    from connections
    where workspace_id = ${workspaceId}
      and removed_at is null`
}

async function selectWebhooks(sql: Sql, workspaceId: string): Promise<WebhookInfo[]> {
  return sql<WebhookInfo[]>`
    select w.id, w.description, w.state, w.state_reason as "stateReason", w.state_changed_at as "stateChangedAt",
      q.failing_since as "failingSince", coalesce(q.failures_in_a_row, 0) as "failuresInARow"
    from webhook_endpoints w
    left join webhook_queues q on q.workspace_id = w.workspace_id and q.endpoint_id = w.id
    where w.workspace_id = ${workspaceId}
      and w.removed_at is null`
}
