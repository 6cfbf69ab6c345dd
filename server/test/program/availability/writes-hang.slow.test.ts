import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { ask, newWorkspace, startService } from '../../support/program/service.ts'
import { until } from '../../support/until.ts'
import { hasPostgres, howToGetPostgres, startPostgresPair } from '../postgres-pair.ts'

/** However long a request waits for the database, here its answer is. */
const maxMs = 20_000

const skip = hasPostgres() ? false : howToGetPostgres
test('without a synchronous standby writes get 503, and readiness fails, until there is one', {
  skip,
}, async (t) => {
  const pair = await startPostgresPair()
  const env = { DATABASE_URL: pair.url, PARLEY_MASTER_KEY: randomBytes(32).toString('base64') }
  const { url } = await startService({ env })
  const { key } = await newWorkspace(url)
  const write = async () => {
    const startedAt = performance.now()
    const { status, headers } = await ask(url, key, 'POST /api/v1/leads', { firstName: 'Kim' })
    return { status, retryAfter: headers.get('retry-after'), ms: performance.now() - startedAt }
  }
  const readiness = async () => (await ask(url, key, 'GET /readyz')).status
  assert.equal((await write()).status, 201)
  assert.equal(await readiness(), 200)

  await pair.loseStandby()
  const writes = Promise.all([write(), write(), write()])
  await until(async () => (await readiness()) === 503, 'a process that says it is not ready')
  const read = await ask(url, key, 'GET /api/v1/leads')
  assert.equal(read.status, 200, read.text)
  const answers = await writes
  t.diagnostic(`writes were answered after ${answers.map(({ ms }) => Math.round(ms)).join(', ')} ms`)
  for (const { status, retryAfter, ms } of answers) {
    assert.deepEqual([status, retryAfter], [503, '5'])
    assert.ok(ms < maxMs)
  }
  await pair.rejoin()
  await until(async () => (await readiness()) === 200, 'a process that is ready again')
  assert.equal((await write()).status, 201)
})
