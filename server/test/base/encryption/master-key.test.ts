import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { loadOrCreateMasterKeyFile, masterKeyId, parseMasterKey } from '../../../src/base/encryption/secrets.ts'

const key = Buffer.from('00112233445566778899aabbccddeefffffefdfcfbfaf9f8f7f6f5f4f3f2f1f0', 'hex')

test('a master key is parsed from hex and from base64', () => {
  const spellings = ['hex', 'base64', 'base64url'] as const
  for (const spelling of spellings) assert.deepEqual(parseMasterKey(key.toString(spelling)), key, spelling)
  assert.deepEqual(parseMasterKey(` ${key.toString('hex').toUpperCase()}\n`), key)
})

test('a text that is not 32 bytes is refused as a master key without repeating it', () => {
  const hex = key.toString('hex')
  for (const text of [
    '',
    'password',
    hex.slice(1),
    `${hex}0`,
    `${hex.slice(1)}g`,
    randomBytes(31).toString('base64'),
  ]) {
    assert.throws(() => parseMasterKey(text), { message: /^A master key is 64 hex digits or the base64 of 32 bytes/ })
  }
})

test('the id of a master key is short and stable', () => {
  assert.match(masterKeyId(key), /^[0-9a-f]{8}$/)
  assert.equal(masterKeyId(Buffer.from(key)), masterKeyId(key))
  assert.notEqual(masterKeyId(randomBytes(32)), masterKeyId(key))
})

test('the key file is created once, for its owner only, and reused', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-key-'))
  const path = join(folder, 'deeper', 'master.key')
  const created = loadOrCreateMasterKeyFile(path)
  assert.equal(created.length, 32)
  assert.equal(statSync(path).mode & 0o777, 0o600)
  assert.deepEqual(loadOrCreateMasterKeyFile(path), created)
  assert.deepEqual(readdirSync(join(folder, 'deeper')), ['master.key'])
})

test('an invalid key file is reported and unchanged', () => {
  const path = join(mkdtempSync(join(tmpdir(), 'parley-key-')), 'master.key')
  for (const content of ['', 'half a ke']) {
    writeFileSync(path, content)
    assert.throws(() => loadOrCreateMasterKeyFile(path), { message: /Cannot read the master key file/ })
    assert.equal(readFileSync(path, 'utf8'), content)
  }
})

test('concurrent starts all get the same key', async () => {
  const path = join(mkdtempSync(join(tmpdir(), 'parley-key-')), 'master.key')
  const source = `
    const { parentPort, workerData } = require('node:worker_threads')
    import(workerData.module).then(({ loadOrCreateMasterKeyFile }) => {
      parentPort.postMessage(loadOrCreateMasterKeyFile(workerData.path).toString('hex'))
    })`
  const module = new URL('../../../src/base/encryption/secrets.ts', import.meta.url).href
  const load = (): Promise<string> =>
    new Promise((resolve, reject) => {
      new Worker(source, { eval: true, workerData: { module, path } }).once('message', resolve).once('error', reject)
    })
  const keys = await Promise.all([load(), load(), load(), load()])
  assert.equal(new Set(keys).size, 1)
})
