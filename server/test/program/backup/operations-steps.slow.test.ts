import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { databaseSettings, emptyDatabase, testDatabase } from '../../support/database.ts'
import { newFolder } from '../../support/folder.ts'
import { commandsUnder, type } from '../../support/program/operations.ts'
import { runCommandInProcess } from '../../support/program/run-command.ts'
import { serviceEnvironment } from '../../support/program/service.ts'
import { shellEnvironment } from '../../support/program/shell.ts'

const root = fileURLToPath(new URL('../../../..', import.meta.url))

test('the commands of "Back up and restore" and "Move to an external database" work as described', async () => {
  const [backUp = '', restore = '', prove = '', ...more] = await commandsUnder('Back up and restore')
  const [move = '', ...evenMore] = await commandsUnder('Move to an external database')
  assert.deepEqual([more, evenMore], [[], []])
  const [folder, kept] = [await newFolder(), await newFolder()]
  assert.equal((await runCommandInProcess(['workspace', 'create', 'Acme'], serviceEnvironment(folder, 1))).exitCode, 0)
  const target = await emptyDatabase()
  const { DATABASE_URL = '', PARLEY_DATABASE_DIRECT_URL, PGPASSWORD } = databaseSettings(target)
  const named = {
    BACKUP: join(kept, 'parley.backup'),
    KEYS: join(kept, 'parley.keys'),
    TARGET: PARLEY_DATABASE_DIRECT_URL ?? DATABASE_URL,
    ...(PGPASSWORD && { PGPASSWORD }),
  }
  const at = (data: string) => shellEnvironment({ ...named, PARLEY_DATA_DIR: data, PARLEY_DEMO: '0' })
  const restored = join(kept, 'data')

  assert.match(
    await type(backUp, root, at(folder)),
    /parley\.backup: .* rows, 0 files\. Includes every write acknowledged before/,
  )
  assert.match(await type(restore, root, at(restored)), /No problems found\.\nStart the service on /)
  assert.match(await type(prove, root, at(restored)), /No problems found\.\n$/)
  assert.match(
    await type(move, root, at(restored)),
    /of every table match\.[\s\S]*No problems found\.[\s\S]*DATABASE_URL/,
  )
})

test('the commands for an external database dump it while in use, and restore it with its files', async (t) => {
  const source = await testDatabase()
  const tools = await toolsFor(source)
  if (tools === null) return t.skip('There is no pg_dump of this version of PostgreSQL')
  const [dump = '', files = '', ...more] = await commandsUnder('Back up and restore', '')
  assert.deepEqual(more, [])
  const target = await emptyDatabase()
  const [folder, kept] = [await newFolder(), await newFolder()]
  const settingsOf = (database: typeof source) => {
    const { DATABASE_URL = '', PARLEY_DATABASE_DIRECT_URL, ...settings } = databaseSettings(database)
    const to = PARLEY_DATABASE_DIRECT_URL ?? DATABASE_URL
    return { ...settings, DATABASE_URL: to, PARLEY_MASTER_KEY: 'ab'.repeat(32) }
  }
  const made = await runCommandInProcess(
    ['workspace', 'create', 'Acme'],
    serviceEnvironment(folder, 1, settingsOf(source)),
  )
  assert.equal(made.exitCode, 0, made.stderr)
  const { stdout } = await runCommandInProcess(['prove', '--json'], serviceEnvironment(folder, 1, settingsOf(source)))
  const placed = (text: string, place: string) =>
    text.replaceAll('/srv/parley-media', place).replaceAll('/backup/parley-media', join(kept, 'files'))
  const shellFor = (database: typeof source) => {
    const env = shellEnvironment(settingsOf(database))
    return { ...env, PATH: `${tools}:${env.PATH}` }
  }
  const linesOf = (text: string) => text.trim().split('\n') as [string, string]
  const [[out, back], [copy, copyBack]] = [linesOf(dump), linesOf(files)]

  await type(out, kept, shellFor(source))
  await type(placed(copy, source.mediaFolder), kept, shellFor(source))
  await type(back, kept, shellFor(target))
  await type(placed(copyBack, target.mediaFolder), kept, shellFor(target))
  const restored = await runCommandInProcess(['prove', '--json'], serviceEnvironment(folder, 1, settingsOf(target)))
  assert.equal(restored.exitCode, 0, restored.stdout + restored.stderr)
  assert.deepEqual(JSON.parse(restored.stdout), JSON.parse(stdout))
})

/** Where the tools of a server's own version are; null where they are not, as with the embedded one. */
async function toolsFor({ db }: Awaited<ReturnType<typeof testDatabase>>): Promise<string | null> {
  const [server] = await db.sql<{ major: number }[]>`
    select current_setting('server_version_num')::integer / 10000 as major`
  const folder = `/usr/lib/postgresql/${server?.major}/bin`
  return existsSync(join(folder, 'pg_dump')) ? folder : null
}
