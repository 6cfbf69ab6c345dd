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

test('an upgrade keeps the numbers that worked, and the addresses of all forms', async (t) => {
  const { db } = await emptyDatabase()
  const folder = await mkdtemp(join(tmpdir(), 'parley-migrations-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const names = (await readdir(own)).sort()
  const last = names.findIndex((name) => name.endsWith('-reservations.sql'))
  for (const name of names.slice(0, last)) await copyFile(join(own, name), join(folder, name))
  await migrate(db, folder)
  const workspaceId = randomUUID()
  await db.sql`
    insert into workspaces (id, name, created_at, updated_at)
    values (${workspaceId}, 'Acme', now(), now())`
  const phone = randomUUID()
  const before: [channel: string, numberId: string, state: string, heardOf: Date | null, id?: string][] = [
    ['waba', '1', 'active', null],
    ['waba', '2', 'paused', null],
    ['waba', '3', 'unavailable', new Date()],
    ['waba', '4', 'unavailable', null],
    ['partner', '5', 'active', null],
    ['unofficial', '5581', 'unavailable', new Date()],
    ['unofficial', phone, 'paused', null, phone],
  ]
  for (const [channel, numberId, state, heardOf, id = randomUUID()] of before) {
    await db.sql`
      insert into connections (
        workspace_id, id, channel, name, number_id, settings, state, state_changed_at, last_event_in_at, created_at,
        updated_at
      )
      values (${workspaceId}, ${id}, ${channel}, 'x', ${numberId}, '', ${state}, now(), ${heardOf}, now(), now())`
  }
  await db.sql`
    insert into forms (
      workspace_id, id, slug, name, title, fields, submit_label, thank_you, allowed_origins, source, status, active,
      created_at, updated_at
    )
    values (${workspaceId}, ${randomUUID()}, 'talk-to-us', 'x', 'x', '[]', 'x', 'x', '{}', 'website', 'new', true, now(), now())`
  await migrate(db)
  const rows = await db.sql<{ reserved_as: string | null }[]>`
    select reserved_as from connections where workspace_id = ${workspaceId} order by channel desc, number_id`
  assert.deepEqual(
    rows.map((row) => row.reserved_as).sort(),
    [
      'https://graph.facebook.com 1',
      'https://graph.facebook.com 2',
      'https://graph.facebook.com 3',
      'https://waba-v2.360dialog.io 5',
      'network 5581',
      null,
      null,
    ].sort(),
  )
  assert.equal((await db.sql`select 1 from form_slugs where slug = 'talk-to-us'`).length, 1)
})
