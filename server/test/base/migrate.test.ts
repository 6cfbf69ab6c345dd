import assert from 'node:assert/strict'
import { appendFile, copyFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { openDb } from '../../src/base/db.ts'
import { migrate } from '../../src/base/migrate.ts'
import { emptyDatabase, testDatabase } from '../support/database.ts'
import { oncePerFile } from '../support/file-lifecycle.ts'
import { newFolder } from '../support/folder.ts'

const own = fileURLToPath(new URL('../../migrations', import.meta.url))
const database = oncePerFile(emptyDatabase)

/** A database without tables, the same each time. */
async function empty() {
  const { db, options } = await database()
  await db.sql.unsafe('drop schema public cascade; create schema public')
  return { db, options }
}

test('migrating from empty applies every migration, and a second run does nothing', async () => {
  const { db } = await testDatabase()
  assert.deepEqual(await migrate(db), { applied: [] })
  const rows = await db.sql<{ name: string; checksum: string }[]>`select name, checksum from migrations order by number`
  assert.deepEqual(
    rows.map(({ name }) => `${name}.sql`),
    (await readdir(own)).sort(),
  )
  for (const { checksum } of rows) assert.match(checksum, /^[0-9a-f]{64}$/)
})

test('later migrations are applied in the order of their numbers', async () => {
  const { db } = await empty()
  const folder = await migrations({ '0001-first': 'create table a (n int)' })
  await migrate(db, folder)
  await writeFile(join(folder, '0002-second.sql'), 'alter table a rename to b;\nalter table b add m int;')
  await writeFile(join(folder, '0003-third.sql'), 'insert into b (n, m) values (1, 2)')
  assert.deepEqual(await migrate(db, folder), { applied: ['0002-second', '0003-third'] })
  assert.equal((await db.sql`select n, m from b`).length, 1)
})

test('concurrent processes apply each migration once', async () => {
  const { db, options } = await empty()
  const folder = await migrations({
    '0001-first': 'create table a (n int); select pg_sleep(0.05)',
    '0002-second': 'insert into a values (1)',
    '0003-third': 'insert into a values (2)',
  })
  const nodes = [db, openDb(options), openDb(options), openDb(options)]
  const results = await Promise.all(nodes.map((node) => migrate(node, folder)))
  await Promise.all(nodes.slice(1).map((node) => node.close()))
  assert.deepEqual(results.flatMap((result) => result.applied).sort(), ['0001-first', '0002-second', '0003-third'])
  assert.equal((await db.sql`select n from a`).length, 2)
})

test('a failed migration is rolled back completely', async () => {
  const { db } = await empty()
  const folder = await migrations({
    '0001-first': 'create table a (n int)',
    '0002-bad': 'create table b (n int); select 1/0',
  })
  await assert.rejects(migrate(db, folder), /Migration 0002-bad failed and was rolled back/)
  const [row] = await db.sql`select to_regclass('a') is not null as a, to_regclass('b') is not null as b`
  assert.deepEqual({ ...row }, { a: true, b: false })
  assert.equal((await db.sql`select number from migrations`).length, 1)
})

test('a migration that was edited after it was applied is refused', async () => {
  const { db } = await empty()
  const folder = await migrations({ '0001-first': 'create table a (n int)', '0002-second': 'create table b (n int)' })
  await migrate(db, folder)
  await appendFile(join(folder, '0001-first.sql'), '\n')
  await assert.rejects(migrate(db, folder), /Migration 0001-first was edited after it was applied/)
})

test('different line endings are not an edit', async () => {
  const { db } = await empty()
  await migrate(db, await migrations({ '0001-first': 'create table a (\n  n int\n);\n' }))
  assert.deepEqual(await migrate(db, await migrations({ '0001-first': 'create table a (\r\n  n int\r\n);\r\n' })), {
    applied: [],
  })
})

test('a database newer than the program is refused and unchanged', async () => {
  const { db } = await empty()
  const newer = await migrations({ '0001-first': 'create table a (n int)', '0002-second': 'create table b (n int)' })
  const older = await migrations({})
  await copyFile(join(newer, '0001-first.sql'), join(older, '0001-first.sql'))
  await migrate(db, newer)
  await assert.rejects(
    migrate(db, older),
    /The database is at migration 0002-second, but this version of Parley ends at 0001-first\. Start the newer version/,
  )
  assert.equal((await db.sql`select number from migrations`).length, 2)
})

const misnumbered: [string, string[]][] = [
  ['a gap', ['0001-first', '0003-third']],
  ['a repeat', ['0001-first', '0002-second', '0002-other']],
  ['a missing first number', ['0002-second']],
  ['a name without a number', ['0001-first', 'second']],
]
for (const [problem, names] of misnumbered) {
  test(`${problem} in the numbers is refused before anything is applied`, async () => {
    const { db } = await empty()
    const folder = await migrations(Object.fromEntries(names.map((name) => [name, 'select 1'])))
    await assert.rejects(migrate(db, folder), /numbered without gaps or repeats/)
    const [row] = await db.sql`select to_regclass('migrations') as found`
    assert.equal(row?.found, null)
  })
}

async function migrations(files: Record<string, string>): Promise<string> {
  const folder = await newFolder()
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, `${name}.sql`), text)
  return folder
}
