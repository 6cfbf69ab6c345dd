import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadConfig } from '../../src/config.ts'

const megabyte = 1_000_000
const searchMemory = (env: Record<string, string>, machine?: number) => loadConfig(env, machine).search.memoryBytes

test('images take an eighth of the memory, 192 MB at least and 1024 MB at most, unless PARLEY_SEARCH_MEMORY says how much', () => {
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
