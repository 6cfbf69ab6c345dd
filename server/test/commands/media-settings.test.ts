import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigError, loadConfig } from '../../src/config.ts'

const keys = { AWS_ACCESS_KEY_ID: 'AKIATEST', AWS_SECRET_ACCESS_KEY: 'hidden' }

function problemsOf(env: Record<string, string>): string[] {
  try {
    loadConfig(env)
    return []
  } catch (error) {
    assert.ok(error instanceof ConfigError)
    return error.problems
  }
}

const mediaOf = (env: Record<string, string>) => loadConfig(env).media

test('files are kept in the data folder unless PARLEY_MEDIA_URL names another place', () => {
  assert.deepEqual(mediaOf({ PARLEY_DATA_DIR: '/var/lib/parley' }), { kind: 'folder', folder: '/var/lib/parley/media' })
  for (const url of ['file:///srv/parley%20media', 'file:///srv/parley%20media/']) {
    assert.deepEqual(mediaOf({ PARLEY_MEDIA_URL: url }), { kind: 'folder', folder: '/srv/parley media' })
  }
})

test('a bucket is read with its prefix, region and endpoint, and with the keys of the environment', () => {
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
    ['s3://team-files?region=x', keys, { credentials, endpoint: null }],
    [
      's3://team-files?region=x',
      { ...keys, AWS_SESSION_TOKEN: 't' },
      { credentials: { ...credentials, sessionToken: 't' } },
    ],
    ['s3://team-files?region=x', {}, { credentials: null }],
  ]
  for (const [url, env, expected] of cases) {
    assert.partialDeepStrictEqual(mediaOf({ ...env, PARLEY_MEDIA_URL: url }), { kind: 's3', ...expected }, url)
  }
})

test('an address that cannot be used is refused in words that repeat nothing of it', () => {
  const cases: [url: string, words: RegExp, env?: Record<string, string>][] = [
    ['media', /must be file:\/\/\/a\/folder or s3:/],
    ['https://hidden.example.com', /must be file:\/\/\/a\/folder or s3:/],
    [`file:///${'x'.repeat(3000)}`, /must be file:/],
    ['file:///', /not all of the disk/],
    ['file://host/hidden', /a folder of this machine/],
    ['file:///srv?hidden=1', /a folder of this machine/],
    ['s3://key:hidden@team-files?region=x', /must hold no keys: set AWS_ACCESS_KEY_ID/],
    ['s3://team-files', /needs a region: add \?region=/],
    ['s3://team-files?region=hidden%20x', /needs a region/],
    ['s3://Team_hidden?region=x', /must name a bucket/],
    ['s3://a?region=x', /must name a bucket/],
    ['s3://team-files/hidden//x?region=x', /must have a prefix of letters/],
    ['s3://team-files/%2e%2e%2fhidden?region=x', /must have a prefix of letters/],
    ['s3://team-files?region=x&hidden=1', /takes nothing after the prefix/],
    ['s3://team-files?endpoint=ftp://hidden', /must have an endpoint like/],
    ['s3://team-files?endpoint=https://key:hidden@s3.example.com', /must have an endpoint like .* without keys/],
    ['s3://team-files?region=x', /both or neither/, { AWS_ACCESS_KEY_ID: 'hidden' }],
  ]
  for (const [url, words, env] of cases) {
    const problems = problemsOf({ ...env, PARLEY_MEDIA_URL: url })
    assert.equal(problems.length, 1, url)
    assert.match(problems[0] ?? '', words)
    assert.match(problems[0] ?? '', /^PARLEY_MEDIA_URL /)
    assert.doesNotMatch(problems[0] ?? '', /hidden/)
  }
})
