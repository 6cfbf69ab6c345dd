import assert from 'node:assert/strict'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { describeSchema } from './support/contract/schema.ts'
import { testDatabase } from './support/database.ts'

const picture = fileURLToPath(new URL('../../docs/schema.sql', import.meta.url))
const head =
  '-- The schema after all migrations, on every PostgreSQL alike. Written by the tests: UPDATE_SCHEMA=1 npm test\n\n'

test('the migrations make the schema that docs/schema.sql shows (UPDATE_SCHEMA=1 writes it anew)', async () => {
  const { db } = await testDatabase()
  const schema = head + (await describeSchema(db.sql))
  if (process.env.UPDATE_SCHEMA === '1') {
    await mkdir(dirname(picture), { recursive: true })
    await writeFile(picture, schema)
  }
  const committed = (await readFile(picture, 'utf8')).replaceAll('\r\n', '\n')
  assert.equal(schema, committed)
})

test('there are no triggers, and no functions, views or sequences that act unseen', async () => {
  const { db } = await testDatabase()
  const schema = await describeSchema(db.sql)
  assert.doesNotMatch(schema, /^-- (?:trigger|function|relation|type)/m)
})

test("every table's key and foreign keys begin with the workspace, or the table belongs to the instance", async () => {
  const { db } = await testDatabase()
  const rows = await db.sql<{ name: string; key: string }[]>`
    select c.relname as name, pg_get_constraintdef(k.oid) as key
    from pg_class c
    join pg_constraint k on k.conrelid = c.oid
    where c.relnamespace = 'public'::regnamespace
      and k.contype = 'p'
      and exists (select from pg_attribute where attrelid = c.oid and attname = 'workspace_id' and attnotnull)`
  const bad = rows.filter((row) => !/^PRIMARY KEY \(workspace_id\b/.test(row.key))
  assert.ok(rows.length > 5)
  assert.deepEqual(
    bad.map((row) => `${row.name}: ${row.key}`),
    [],
  )
})
