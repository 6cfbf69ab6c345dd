import type { Db } from '../server/src/base/db.ts'
import { newId } from '../server/src/base/id.ts'
import type { BenchWorkspace } from './workspace.ts'

/** As many as a workspace may have; the rules match no message, but half of them are judged for each. */
const counts = { teams: 50, rules: 100, scheduled: 10_000 }

/** Adds the settings and waiting work of a large team to a workspace with conversations. */
export async function crowd(db: Db, { workspaceId, keyId }: BenchWorkspace): Promise<void> {
  const now = new Date()
  const ids = (count: number) => Array.from({ length: count }, () => newId(now))
  const { sql } = db
  await sql`
    insert into teams (workspace_id, id, name, assignment, max_reassignments, created_at)
    select ${workspaceId}, id, 'Team ' || n, 'round_robin', 3, ${now}
    from unnest(${ids(counts.teams)}::uuid[]) with ordinality as t (id, n)`
  const condition = { field: 'message_text', operator: 'any_of', values: ['refund', 'complaint', 'lawyer'] }
  await sql`
    insert into automation_rules (
      workspace_id, id, name, position, enabled, trigger, conditions, actions, stops, follows_rules, version, enabled_at,
      created_at, updated_at
    )
    select ${workspaceId}, id, 'Rule ' || n, n, true, case when n % 2 = 0 then 'message_received' else 'lead_updated' end,
      ${sql.json([condition])}::jsonb, ${sql.json([{ kind: 'set_priority', priority: 'urgent' }])}::jsonb,
      false, false, 1, ${now}, ${now}, ${now}
    from unnest(${ids(counts.rules)}::uuid[]) with ordinality as t (id, n)`
  await sql`
    insert into automation_queues (workspace_id, active, position, activities_at, timers_at)
    select ${workspaceId}, true, coalesce(max(position), 0), ${now}, ${now}
    from events
    where workspace_id = ${workspaceId}`
  await sql`
    insert into scheduled_messages (
      workspace_id, id, conversation_id, sender_type, sender_id, status, content, due_at, next_at,
      cancel_if_customer_writes, created_at
    )
    select ${workspaceId}, gen_random_uuid(), id, 'agent', ${keyId}, 'scheduled', ${Buffer.alloc(120)}, due, due, false, ${now}
    from conversations, (values (${new Date(now.getTime() + 86_400_000)}::timestamptz)) as d (due)
    where workspace_id = ${workspaceId}
    limit ${counts.scheduled}`
}
