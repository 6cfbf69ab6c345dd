import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { ConfigError, loadConfig } from '../../src/config.ts'
import { newFolder } from '../support/folder.ts'

const key = Buffer.alloc(32, 7).toString('base64')
const operations = new URL('../../../docs/operations.md', import.meta.url)

async function fileOf(text: string): Promise<string> {
  const path = join(await newFolder(), 'secret')
  await writeFile(path, text)
  return path
}

function problemsOf(env: Record<string, string>): string[] {
  try {
    loadConfig(env)
    return []
  } catch (error) {
    assert.ok(error instanceof ConfigError)
    return error.problems
  }
}

test('a secret may stand in a file, with a line end or without', async () => {
  const config = loadConfig({
    DATABASE_URL: 'postgres://parley@db',
    PGPASSWORD_FILE: await fileOf('pass word\n'),
    PARLEY_MASTER_KEY_FILE: await fileOf(`${key}\n`),
    PARLEY_METRICS_TOKEN_FILE: await fileOf('a-token-of-the-collector-1'),
  })
  assert.equal(config.database.address?.password, 'pass word')
  assert.equal(config.masterKey, key)
  assert.equal(config.metricsToken, 'a-token-of-the-collector-1')
})

test('an address with its password may stand in a file as well', async () => {
  const { database } = loadConfig({
    DATABASE_URL_FILE: await fileOf('postgres://parley:secret@db/parley'),
    PARLEY_MASTER_KEY: key,
  })
  assert.equal(database.address?.password, 'secret')
})

test('a file that is not there, is empty, or says what is said already is a problem, and no problem repeats a value', async () => {
  const path = await fileOf(' \n')
  assert.deepEqual(problemsOf({ PARLEY_TEAM_TOKEN_FILE: '/nowhere/secret' }), [
    'PARLEY_TEAM_TOKEN_FILE names a file that cannot be read (ENOENT)',
  ])
  assert.deepEqual(problemsOf({ PARLEY_TEAM_TOKEN_FILE: path }), ['PARLEY_TEAM_TOKEN_FILE names a file that is empty'])
  assert.deepEqual(problemsOf({ PARLEY_MASTER_KEY: key, PARLEY_MASTER_KEY_FILE: await fileOf(key) }), [
    'PARLEY_MASTER_KEY and PARLEY_MASTER_KEY_FILE are both set: leave one of them out',
  ])
})

test('what is no secret is in no file', async () => {
  assert.deepEqual(problemsOf({ PARLEY_URL_FILE: await fileOf('https://parley.example.com') }), [
    'PARLEY_URL_FILE is not a setting of Parley',
  ])
})

test('what a file says is checked as a variable is', async () => {
  assert.deepEqual(problemsOf({ PARLEY_MASTER_KEY_FILE: await fileOf('short') }), [
    'PARLEY_MASTER_KEY must be 32 bytes as base64 or as 64 hex digits',
  ])
})

test('the settings say which of them may stand in a file', async () => {
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
