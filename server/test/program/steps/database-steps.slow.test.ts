import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { socketAddress } from '../../../src/base/postgres/address.ts'
import { newFolder } from '../../support/folder.ts'
import { ownPostgres, session } from '../../support/postgres/own-postgres.ts'
import { commandsUnder } from '../../support/program/operations.ts'
import { runCommandInProcess } from '../../support/program/run-command.ts'
import { serviceEnvironment } from '../../support/program/service.ts'

// The embedded server has a role and a database of this name already.
const renamed = (text: string) => text.replaceAll('parley', 'installed')

test('the role and database of "External PostgreSQL" are sufficient for the service, with the limits of its role', async () => {
  const [make = '', limit = ''] = (await commandsUnder('External PostgreSQL', 'sql')).map(renamed)
  const server = await ownPostgres()
  const admin = await session(socketAddress(server))
  // Each is a transaction, as psql has it: a database is made in none.
  for (const statement of `${make}${limit}`.split(/(?<=;)\n/).filter((one) => one.trim() !== '')) {
    await admin.query(statement.replace('…', 'a-password'))
  }
  const folder = await newFolder()
  const env = serviceEnvironment(folder, 1, {
    DATABASE_URL: `postgres:///installed?host=${encodeURIComponent(server.socketFolder)}&user=installed`,
    PGPASSWORD: 'a-password',
    PARLEY_MASTER_KEY: 'ab'.repeat(32),
    PARLEY_MEDIA_URL: `file://${join(folder, 'media')}`,
  })
  const made = await runCommandInProcess(['workspace', 'create', 'Acme'], env)
  assert.equal(made.exitCode, 0, made.stderr)
  const proven = await runCommandInProcess(['prove'], env)
  assert.match(proven.stdout, /No problems found\.\n$/)
  const role = socketAddress({ ...server, user: 'installed', database: 'installed', password: 'a-password' })
  const { rows } = await (await session(role)).query(`
    select current_setting('statement_timeout') as statement, current_setting('client_connection_check_interval') as look`)
  assert.deepEqual(rows, [{ statement: '15s', look: '2s' }])
})
