import assert from 'node:assert/strict'
import { test } from 'node:test'
import { copyIn } from '../../src/base/copy/copy.ts'
import { withSession } from '../../src/base/copy/session.ts'
import { readDatabaseUrl } from '../../src/base/postgres/address/address.ts'
import { databaseSettings, emptyDatabase } from '../support/database.ts'

test('a copy of many megabytes waits for the server as often as it must, and leaves nobody listening', async () => {
  const database = await emptyDatabase()
  const { DATABASE_URL = '', PARLEY_DATABASE_DIRECT_URL, PGPASSWORD } = databaseSettings(database)
  const address = readDatabaseUrl(PARLEY_DATABASE_DIRECT_URL ?? DATABASE_URL, { PGPASSWORD })
  await database.db.sql`create table copied (line text)`
  const blocks = 40
  const lines = Buffer.from(`${'x'.repeat(1023)}\n`.repeat(1024))
  async function* pieces() {
    for (let n = 0; n < blocks; n++) yield lines
  }
  await withSession(address, 'parley test', async (client) => {
    const { stream } = client.connection
    const before = stream.listenerCount('close')
    assert.equal(await copyIn(client, 'copy copied from stdin', pieces()), blocks * 1024)
    assert.equal(stream.listenerCount('close'), before)
  })
})
