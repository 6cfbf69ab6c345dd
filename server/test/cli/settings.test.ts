import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { ConfigError, loadConfig } from '../../src/config.ts'
import { newFolder } from '../support/folder.ts'

const key = Buffer.alloc(32, 7).toString('base64')
const masterKey = { PARLEY_MASTER_KEY: key }

function problemsOf(env: Record<string, string>): string[] {
  try {
    loadConfig(env)
    return []
  } catch (error) {
    assert.ok(error instanceof ConfigError)
    return error.problems
  }
}

const cluster = 'postgres://parley@a:5433,b,[::1]:5434/parley?target_session_attrs=read-write&sslmode=require'

test('DATABASE_URL can have several hosts, and a direct address besides the pooler', () => {
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

test('the drain time is 5 s by default, and 0 if there is no other process', () => {
  const drainMs = (env: Record<string, string>) => loadConfig({ ...masterKey, ...env }).http.drainMs
  const shared = { DATABASE_URL: 'postgres://parley@db' }
  assert.deepEqual([drainMs(shared), drainMs({})], [5_000, 0])
  for (const env of [shared, {}]) {
    assert.equal(drainMs({ ...env, PARLEY_DRAIN_SECONDS: '0' }), 0)
    assert.equal(drainMs({ ...env, PARLEY_DRAIN_SECONDS: '300' }), 300_000)
    assert.deepEqual(problemsOf({ ...masterKey, ...env, PARLEY_DRAIN_SECONDS: '301' }), [
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

test('without DATABASE_URL there is no address and no direct address', () => {
  const { database } = loadConfig({ PGPASSWORD: 'secret' })
  assert.deepEqual(database, { url: null, address: null, directUrl: null, directAddress: null, maxConnections: 10 })
  assert.deepEqual(problemsOf({ ...masterKey, PARLEY_DATABASE_DIRECT_URL: cluster }), [
    'PARLEY_DATABASE_DIRECT_URL requires DATABASE_URL, the URL of the same database through a pooler',
  ])
})

test('an invalid address is reported by name without its value, together with all other problems', () => {
  const settings = {
    DATABASE_URL: 'postgres://parley:hid/den@db/parley',
    PARLEY_DATABASE_DIRECT_URL: 'postgres://parley:hidden@db/parley?sslmod=require',
    PARLEY_LOG_LEVEL: 'loud',
  }
  const problems = problemsOf({ ...masterKey, ...settings })
  assert.equal(problems.length, 3)
  assert.match(problems[0] ?? '', /^DATABASE_URL must have a port from 1 to 65535/)
  assert.match(problems[1] ?? '', /^PARLEY_DATABASE_DIRECT_URL has the unknown parameter sslmod; known are host,/)
  assert.doesNotMatch(problems.join(), /hid|den@/)
})

const bucketKeys = { AWS_ACCESS_KEY_ID: 'AKIATEST', AWS_SECRET_ACCESS_KEY: 'hidden' }

const mediaOf = (env: Record<string, string>) => loadConfig(env).media

test('files are stored in the data folder unless PARLEY_MEDIA_URL is set', () => {
  assert.deepEqual(mediaOf({ PARLEY_DATA_DIR: '/var/lib/parley' }), { kind: 'folder', folder: '/var/lib/parley/media' })
  for (const url of ['file:///srv/parley%20media', 'file:///srv/parley%20media/']) {
    assert.deepEqual(mediaOf({ PARLEY_MEDIA_URL: url }), { kind: 'folder', folder: '/srv/parley media' })
  }
})

test('a bucket is parsed with its prefix, region and endpoint, and the keys from the environment', () => {
  const credentials = { accessKeyId: 'AKIATEST', secretAccessKey: 'hidden' }
  const cases: [url: string, env: Record<string, string>, expected: Record<string, unknown>][] = [
    ['s3://team-files?region=eu-central-1', {}, { bucket: 'team-files', prefix: '', region: 'eu-central-1' }],
    ['s3://team-files/', { AWS_REGION: 'sa-east-1' }, { prefix: '', region: 'sa-east-1' }],
    ['s3://team-files/parley/media/?region=x', {}, { prefix: 'parley/media/' }],
    [
      's3://team-files?endpoint=https://s3.example.com',
      {},
      { endpoint: 'https://s3.example.com/', region: 'us-east-1' },
    ],
    ['s3://team-files?endpoint=http%3A%2F%2F10.0.0.9%3A9000', {}, { endpoint: 'http://10.0.0.9:9000/' }],
    ['s3://team-files?region=x', bucketKeys, { credentials, endpoint: null }],
    [
      's3://team-files?region=x',
      { ...bucketKeys, AWS_SESSION_TOKEN: 't' },
      { credentials: { ...credentials, sessionToken: 't' } },
    ],
    ['s3://team-files?region=x', {}, { credentials: null }],
  ]
  for (const [url, env, expected] of cases) {
    assert.partialDeepStrictEqual(mediaOf({ ...env, PARLEY_MEDIA_URL: url }), { kind: 's3', ...expected }, url)
  }
})

test('an invalid address is refused without repeating it', () => {
  const cases: [url: string, words: RegExp, env?: Record<string, string>][] = [
    ['media', /must be file:\/\/\/a\/folder or s3:/],
    ['https://hidden.example.com', /must be file:\/\/\/a\/folder or s3:/],
    [`file:///${'x'.repeat(3000)}`, /must be file:/],
    ['file:///', /not the root of the disk/],
    ['file://host/hidden', /a folder of this machine/],
    ['file:///srv?hidden=1', /a folder of this machine/],
    ['s3://key:hidden@team-files?region=x', /must not contain keys: set AWS_ACCESS_KEY_ID/],
    ['s3://team-files', /needs a region: add \?region=/],
    ['s3://team-files?region=hidden%20x', /needs a region/],
    ['s3://Team_hidden?region=x', /must name a bucket/],
    ['s3://a?region=x', /must name a bucket/],
    ['s3://team-files/hidden//x?region=x', /must have a prefix of letters/],
    ['s3://team-files/%2e%2e%2fhidden?region=x', /must have a prefix of letters/],
    ['s3://team-files?region=x&hidden=1', /may have only/],
    ['s3://team-files?endpoint=ftp://hidden', /must have an endpoint like/],
    ['s3://team-files?endpoint=https://key:hidden@s3.example.com', /must have an endpoint like .* without keys/],
    ['s3://team-files?region=x', /, or neither/, { AWS_ACCESS_KEY_ID: 'hidden' }],
  ]
  for (const [url, words, env] of cases) {
    const problems = problemsOf({ ...env, PARLEY_MEDIA_URL: url })
    assert.equal(problems.length, 1, url)
    assert.match(problems[0] ?? '', words)
    assert.match(problems[0] ?? '', /^PARLEY_MEDIA_URL /)
    assert.doesNotMatch(problems[0] ?? '', /hidden/)
  }
})

const megabyte = 1_000_000
const searchMemory = (env: Record<string, string>, machine?: number) => loadConfig(env, machine).search.memoryBytes

test('memory indexes use an eighth of the memory, from 192 MB to 1024 MB, unless PARLEY_SEARCH_MEMORY is set', () => {
  const machines = [0.5, 1.5, 2, 4, 8, 64].map((gigabytes) => gigabytes * 1000 * megabyte)
  assert.deepEqual(
    machines.map((machine) => searchMemory({}, machine) / megabyte),
    [192, 192, 250, 500, 1000, 1024],
  )
  for (const given of [0, 1, 192, 65_536]) {
    assert.equal(searchMemory({ PARLEY_SEARCH_MEMORY: String(given) }, 4000 * megabyte), given * megabyte)
  }
  const usual = searchMemory({}) / megabyte
  assert.ok(usual >= 192 && usual <= 1024, `${usual} MB on this machine`)
})

const operations = new URL('../../../docs/operations.md', import.meta.url)

async function fileOf(text: string): Promise<string> {
  const path = join(await newFolder(), 'secret')
  await writeFile(path, text)
  return path
}

test('secrets and addresses with passwords can be in a file, with or without a final line break', async () => {
  const config = loadConfig({
    DATABASE_URL_FILE: await fileOf('postgres://parley:secret@db/parley'),
    PARLEY_MASTER_KEY_FILE: await fileOf(`${key}\n`),
    PARLEY_METRICS_TOKEN_FILE: await fileOf('a-token-of-the-collector-1'),
  })
  const { database, masterKey: read, metricsToken } = config
  assert.deepEqual([database.address?.password, read, metricsToken], ['secret', key, 'a-token-of-the-collector-1'])
})

test('problems of files and their content are reported without values', async () => {
  const masterKeyFile = await fileOf(key)
  for (const [env, problem] of [
    [{ PARLEY_TEAM_TOKEN_FILE: '/nowhere/secret' }, 'PARLEY_TEAM_TOKEN_FILE names a file that cannot be read (ENOENT)'],
    [{ PARLEY_TEAM_TOKEN_FILE: await fileOf(' \n') }, 'PARLEY_TEAM_TOKEN_FILE names an empty file'],
    [
      { PARLEY_MASTER_KEY: key, PARLEY_MASTER_KEY_FILE: masterKeyFile },
      'PARLEY_MASTER_KEY and PARLEY_MASTER_KEY_FILE are both set: remove one of them',
    ],
    [
      { PARLEY_MASTER_KEY_FILE: await fileOf('short') },
      'PARLEY_MASTER_KEY must be 32 bytes as base64 or as 64 hex digits',
    ],
    [{ PARLEY_URL_FILE: await fileOf('https://parley.example.com') }, 'PARLEY_URL_FILE is not a known setting'],
  ] as const)
    assert.deepEqual(problemsOf(env), [problem])
})

test('the settings declare which of them can be in a file', async () => {
  const line = /^Each of (.*?) may stand in a file/ms.exec(await readFile(operations, 'utf8'))?.[1] ?? ''
  const named = [...line.matchAll(/`([A-Z_]+)`/g)].map(([, name = '']) => name)
  assert.ok(named.length > 5)
  const path = '/nowhere/secret'
  for (const name of named) {
    assert.ok(
      problemsOf({ [`${name}_FILE`]: path }).includes(`${name}_FILE names a file that cannot be read (ENOENT)`),
      name,
    )
  }
})
