import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { migrate } from '../../src/base/migrate.ts'
import { emptyDatabase } from '../support/database.ts'

const beforeThem = 43

test('an upgrade leaves each conversation in its place, and no index of the former orders', async () => {
  const { db } = await emptyDatabase()
  await migrate(db, undefined, beforeThem)
  const [workspaceId, connectionId] = [randomUUID(), randomUUID()]
  await db.sql`
    insert into workspaces (id, name, created_at, updated_at)
    values (${workspaceId}, 'Acme', now(), now())`
  await db.sql`
    insert into connections (
      workspace_id, id, channel, name, number_id, settings, state, state_changed_at, created_at, updated_at
    )
    values (${workspaceId}, ${connectionId}, 'waba', 'x', '1', '', 'active', now(), now(), now())`
  await db.sql`
    insert into conversations (
      workspace_id, id, connection_id, channel, contact, index_version, owner_since, status, unread_count,
      last_message_at, unanswered_since, created_at, updated_at
    )
    select ${workspaceId}::uuid, gen_random_uuid(), ${connectionId}::uuid, 'waba', '', 1, now(), 'open', n,
      now() - n * interval '1 day', now() - n * interval '1 day', now(), now() - n * interval '1 hour'
    from generate_series(0, 9) as n`
  const rows = () => db.sql`
    select id, unread_count, last_message_at, unanswered_since, updated_at
    from conversations
    where workspace_id = ${workspaceId}
    order by id`
  const before = await rows()
  await migrate(db)
  assert.deepEqual(await rows(), before)
  const [moving] = await db.sql`
    select
      (select count(*)::integer from conversations where is_moving) as flags,
      (select count(*)::integer from moving_conversations) as rows`
  assert.deepEqual({ ...moving }, { flags: 0, rows: 0 })
  const indexes = await db.sql<{ name: string; definition: string }[]>`
    select indexname as name, indexdef as definition
    from pg_indexes
    where tablename = 'conversations'`
  assert.deepEqual(
    indexes.filter(({ name, definition }) => name.endsWith('_next') || /_at DESC/.test(definition)),
    [],
  )
})
