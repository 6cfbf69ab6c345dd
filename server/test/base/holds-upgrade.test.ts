import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { migrate } from '../../src/base/migrate.ts'
import { emptyDatabase } from '../support/database.ts'

const own = fileURLToPath(new URL('../../migrations', import.meta.url))
const [keyId, userId] = [randomUUID(), randomUUID()]

// Who owns it now, whom it is assigned to, and what its thread still tells of.
const before: [what: string, owner: string | null, assigned: string | null, kinds: string[], held: boolean][] = [
  ['came from an agent', null, null, ['owner', 'owner'], true],
  ['is assigned', null, userId, [], true],
  ['nobody looked at', null, null, [], false],
  ['was only labelled', null, null, ['labels', 'status'], false],
  ['an agent has', keyId, userId, ['owner'], false],
]

test('an upgrade leaves with people what they have, and with agents what they have', async (t) => {
  const { db } = await emptyDatabase()
  const folder = await mkdtemp(join(tmpdir(), 'parley-migrations-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const names = (await readdir(own)).sort()
  const last = names.findIndex((name) => name.endsWith('-holds.sql'))
  for (const name of names.slice(0, last)) await copyFile(join(own, name), join(folder, name))
  await migrate(db, folder)
  const [workspaceId, connectionId] = [randomUUID(), randomUUID()]
  await db.sql`
    insert into workspaces (id, name, created_at, updated_at)
    values (${workspaceId}, 'Acme', now(), now())`
  await db.sql`
    insert into connections (
      workspace_id, id, channel, name, number_id, settings, state, state_changed_at, created_at, updated_at
    )
    values (${workspaceId}, ${connectionId}, 'waba', 'x', '1', '', 'active', now(), now(), now())`
  const ids = new Map<string, string>()
  for (const [what, owner, assigned, kinds] of before) {
    const id = randomUUID()
    ids.set(id, what)
    await db.sql`
      insert into conversations (
        workspace_id, id, connection_id, channel, contact, index_version, owner_key_id, owner_since, status, assigned_to,
        last_message_at, created_at, updated_at
      )
      values (
        ${workspaceId}, ${id}, ${connectionId}, 'waba', '', 1, ${owner}, now(), 'open', ${assigned}, now(), now(), now()
      )`
    for (const kind of kinds) {
      await db.sql`
        insert into conversation_activities (workspace_id, id, conversation_id, kind, detail, actor_type, created_at)
        values (${workspaceId}, ${randomUUID()}, ${id}, ${kind}, '{}', 'system', now())`
    }
  }
  await migrate(db)
  const rows = await db.sql<{ id: string; held: boolean }[]>`
    select id, held from conversations where workspace_id = ${workspaceId}`
  const held = Object.fromEntries(rows.map((row) => [ids.get(row.id), row.held]))
  assert.deepEqual(held, Object.fromEntries(before.map(([what, , , , expected]) => [what, expected])))
  const [workspace] = await db.sql`select agents_may_take_back from workspaces where id = ${workspaceId}`
  assert.equal(workspace?.agents_may_take_back, 'always')
})
