import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigError, loadConfig } from '../../src/config.ts'

const masterKey = { PARLEY_MASTER_KEY: Buffer.alloc(32, 7).toString('base64') }
const cluster = 'postgres://parley@a:5433,b,[::1]:5434/parley?target_session_attrs=read-write&sslmode=require'

function problemsOf(env: Record<string, string>): string[] {
  try {
    loadConfig({ ...masterKey, ...env })
    return []
  } catch (error) {
    assert.ok(error instanceof ConfigError)
    return error.problems
  }
}

test('DATABASE_URL may name several hosts, and a direct way beside the pooler', () => {
  const settings = { DATABASE_URL: 'postgres://parley@pooler:6432/parley', PARLEY_DATABASE_DIRECT_URL: cluster }
  const { database } = loadConfig({ ...masterKey, ...settings, PGPASSWORD: 'secret' })
  assert.equal(database.url, settings.DATABASE_URL)
  assert.deepEqual(
    database.address?.hosts.map(({ host, port }) => [host, port]),
    [['pooler', 6432]],
  )
  assert.equal(database.directUrl, cluster)
  assert.deepEqual(
    database.directAddress?.hosts.map(({ host, port }) => [host, port]),
    [
      ['a', 5433],
      ['b', 5432],
      ['::1', 5434],
    ],
  )
  assert.deepEqual([database.address?.password, database.directAddress?.password], ['secret', 'secret'])
})

test('callers have 5 s to go elsewhere, unless set otherwise or there is no other process', () => {
  const drainMs = (env: Record<string, string>) => loadConfig({ ...masterKey, ...env }).http.drainMs
  const shared = { DATABASE_URL: 'postgres://parley@db' }
  assert.deepEqual([drainMs(shared), drainMs({})], [5_000, 0])
  for (const env of [shared, {}]) {
    assert.equal(drainMs({ ...env, PARLEY_DRAIN_SECONDS: '0' }), 0)
    assert.equal(drainMs({ ...env, PARLEY_DRAIN_SECONDS: '300' }), 300_000)
    assert.deepEqual(problemsOf({ ...env, PARLEY_DRAIN_SECONDS: '301' }), [
      'PARLEY_DRAIN_SECONDS must be a whole number from 0 to 300',
    ])
  }
})

test('no variable of libpq but PGPASSWORD is read', () => {
  const settings = { DATABASE_URL: 'postgres://parley@db' }
  const others = { PGHOST: 'x', PGPORT: '1', PGUSER: 'x', PGDATABASE: 'x', PGSSLMODE: 'disable', PGPASSFILE: 'x' }
  assert.deepEqual(
    loadConfig({ ...masterKey, ...settings, ...others }).database,
    loadConfig({ ...masterKey, ...settings }).database,
  )
})

test('without DATABASE_URL there is no address, and nothing that a direct way could lead around', () => {
  const { database } = loadConfig({ PGPASSWORD: 'secret' })
  assert.deepEqual(database, { url: null, address: null, directUrl: null, directAddress: null, maxConnections: 10 })
  assert.deepEqual(problemsOf({ PARLEY_DATABASE_DIRECT_URL: cluster }), [
    'PARLEY_DATABASE_DIRECT_URL goes with DATABASE_URL, which leads to the same database by a pooler',
  ])
})

test('what is wrong with an address is told with its name and without its value, beside all other problems', () => {
  const settings = {
    DATABASE_URL: 'postgres://parley:hid/den@db/parley',
    PARLEY_DATABASE_DIRECT_URL: 'postgres://parley:hidden@db/parley?sslmod=require',
    PARLEY_LOG_LEVEL: 'loud',
  }
  const problems = problemsOf(settings)
  assert.equal(problems.length, 3)
  assert.match(problems[0] ?? '', /^DATABASE_URL must have a port from 1 to 65535/)
  assert.match(problems[1] ?? '', /^PARLEY_DATABASE_DIRECT_URL has the parameter sslmod, which is none of host,/)
  assert.doesNotMatch(problems.join(), /hid|den@/)
})
