import assert from 'node:assert/strict'
import { test } from 'node:test'
import { databaseSettings, emptyDatabase, goDirect } from '../support/database.ts'
import { atEnd } from '../support/file-end.ts'
import { newFolder } from '../support/folder.ts'
import { keepsNames, startPooler, throughPooler, withoutPooler } from '../support/postgres/pooler.ts'
import { freePort, newWorkspace, startService } from '../support/program/service.ts'
import { until } from '../support/until.ts'

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
  const service = await startService({ folder: await newFolder(), port: await freePort(), env })
  const names = keepsNames()
    ? 'the database is reached by a pooler that keeps prepared statements'
    : 'the database is reached by a pooler that keeps no prepared statements: each is read and planned anew'
  await service.logged(names)
  await service.logged('the role has no time limits of its own: they are sent with every transaction')

  const { key } = await newWorkspace(service.url)
  const created: string[] = []
  const refusals = new Set<string>()
  let isOver = false
  const create = async () => {
    const response = await fetch(`${service.url}/api/v1/leads`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ firstName: 'Marina' }),
    })
    const { data } = (await response.json()) as { data: { id: string } }
    if (response.status === 201) created.push(data.id)
    else refusals.add(`${response.status}, Retry-After ${response.headers.has('retry-after')}`)
  }
  const writers = Array.from({ length: 8 }, async () => {
    while (!isOver) await create()
  })
  await until(() => created.length > 50, 'leads')
  await pooler.pause()
  await until(() => refusals.size > 0, 'a refusal')
  const before = created.length
  await pooler.restart()
  await until(() => created.length > before + 50, 'leads again')
  isOver = true
  await Promise.all(writers)
  assert.deepEqual([...refusals], ['503, Retry-After true'])
  const rows = await own.db.sql<{ id: string }[]>`select id from leads`
  const stored = new Set(rows.map(({ id }) => id))
  assert.deepEqual(
    created.filter((id) => !stored.has(id)),
    [],
  )
  service.kill('SIGTERM')
  assert.equal(await service.gone, 0)
})
