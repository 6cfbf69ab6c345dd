import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseDatabaseUrl, socketAddress } from '../../../src/base/postgres/address.ts'
import { connect } from '../../../src/base/postgres/connect.ts'
import { fakePostgres, startupReply } from '../../support/postgres/fake-postgres.ts'
import { ownPostgres, session } from '../../support/postgres/own-postgres.ts'

const settings = { applicationName: 'parley test', parameters: {} }

test('a permanent error keeps its code and message, and no other host is tried', async () => {
  const { socketFolder, ...login } = await ownPostgres()
  const right = { socketFolder, database: 'parley', user: 'parley', password: login.password }
  const other = await fakePostgres((socket) => socket.write(startupReply()))
  const faults: [fault: object, code: string, words: RegExp][] = [
    [{ password: 'wrong' }, '28P01', /^password authentication failed for user "parley"$/],
    [{ database: 'none' }, '3D000', /^database "none" does not exist$/],
    [{ user: 'nobody' }, '28P01', /^password authentication failed for user "nobody"$/],
  ]
  for (const [fault, code, words] of faults) {
    const address = socketAddress({ ...right, ...fault })
    const hosts = [...address.hosts, ...parseDatabaseUrl(`postgres://ana@127.0.0.1:${other.port}/parley`, {}).hosts]
    await assert.rejects(connect({ ...address, hosts }, settings), (error: NodeJS.ErrnoException) => {
      assert.equal(error.code, code)
      assert.match(error.message, words)
      return true
    })
  }
  assert.deepEqual(other.startupMessages, [])
})

test('a hot standby is skipped until it is promoted; a read-only database always', async () => {
  const first = await ownPostgres()
  await first.stop()
  await writeFile(join(first.folder, 'postgres', 'standby.signal'), '')
  const second = await ownPostgres({ hot_standby: 'on' }, first.folder)
  const address = socketAddress(second)
  await assert.rejects(connect(address, settings), /: is a standby$/)
  // Through a pooler the server is queried, because the pooler may repeat what another server reported.
  await assert.rejects(connect(address, { ...settings, parameters: null }), /: is a standby$/)

  const reader = await session({ ...address, writable: false })
  await reader.query('select pg_promote()')
  const writer = await session(address)
  await writer.query('alter database parley set default_transaction_read_only = on')
  await assert.rejects(connect(address, settings), /: is read-only/)
  await assert.rejects(connect(address, { ...settings, parameters: null }), /: is read-only/)
})
