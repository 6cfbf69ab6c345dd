import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { databaseSettings, emptyDatabase } from '../../support/database.ts'
import { newFolder } from '../../support/folder.ts'
import { commandsUnder, type } from '../../support/program/operations.ts'
import { runCommand } from '../../support/program/run-command.ts'
import { serviceEnvironment } from '../../support/program/service.ts'
import { shellEnvironment } from '../../support/program/shell.ts'

const root = fileURLToPath(new URL('../../../..', import.meta.url))

test('the commands of "Back up and restore" and "Move to an external database" do what is said of them', async () => {
  const [backUp = '', restore = '', prove = '', ...more] = await commandsUnder('Back up and restore')
  const [move = '', ...evenMore] = await commandsUnder('Move to an external database')
  assert.deepEqual([more, evenMore], [[], []])
  const [folder, kept] = [await newFolder(), await newFolder()]
  assert.equal((await runCommand(['workspace', 'create', 'Acme'], serviceEnvironment(folder, 1))).exitCode, 0)
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
    /parley\.backup: .* rows, 0 files\. Every write acknowledged before/,
  )
  assert.match(await type(restore, root, at(restored)), /Nothing is missing\.\nStart the service on /)
  assert.match(await type(prove, root, at(restored)), /Nothing is missing\.\n$/)
  assert.match(
    await type(move, root, at(restored)),
    /are the same on both sides\.[\s\S]*Nothing is missing\.[\s\S]*DATABASE_URL/,
  )
})
