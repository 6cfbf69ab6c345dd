import assert from 'node:assert/strict'
import { test } from 'node:test'
import { databaseSettings, emptyDatabase, goDirect } from '../support/database.ts'
import { atEnd } from '../support/file-end.ts'
import { keepsNames, startPooler, throughPooler, withoutPooler } from '../support/postgres/pooler.ts'
import { startCallers } from '../support/program/callers.ts'
import { newWorkspace, startService } from '../support/program/service.ts'

goDirect('it has a pooler of its own')

const skip = withoutPooler()

test('a service that goes by a pooler says so, and refuses with 503 while that one is away', { skip }, async () => {
  const own = await emptyDatabase()
  const pooler = await startPooler(own.options, keepsNames() ? { max_prepared_statements: 100 } : {})
  atEnd(() => pooler.stop())
  const options = throughPooler(pooler.socketFolder, own.options)
  const env = {
    ...databaseSettings({ ...own, options }),
    PARLEY_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  }
  const service = await startService({ env })
  const names = keepsNames()
    ? 'the database is reached by a pooler that keeps prepared statements'
    : 'the database is reached by a pooler that keeps no prepared statements: each is read and planned anew'
  await service.logged(names)
  await service.logged('the role has no time limits of its own: they are sent with every transaction')

  const { key } = await newWorkspace(service.url)
  const callers = startCallers({ url: service.url, key })
  await callers.more(50)
  await pooler.pause()
  await callers.refused(1)
  await pooler.restart()
  await callers.more(50)
  await callers.stop()
  assert.deepEqual(callers.faults, [])
  const rows = await own.db.sql<{ id: string }[]>`select id from leads`
  const stored = new Set(rows.map(({ id }) => id))
  assert.deepEqual(
    callers.written.filter(({ id }) => !stored.has(id)),
    [],
  )
  await service.stop()
})
