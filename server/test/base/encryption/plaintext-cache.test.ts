import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createPartedCache,
  createPlaintextCache,
  type EncryptedColumns,
  type PlaintextCacheLimits,
} from '../../../src/base/encryption/plaintext-cache.ts'

const limits: PlaintextCacheLimits = { maxBytes: 40_000, maxScopeBytes: 20_000, maxAgeMs: 300_000 }
const text: EncryptedColumns<string> = { table: 'notes', columns: ['text'], read: (plain) => plain ?? '' }
const title: EncryptedColumns<string> = { table: 'notes', columns: ['title'], read: (plain) => plain ?? '' }

function memory(changes: Partial<PlaintextCacheLimits> = {}) {
  const values = createPlaintextCache({ ...limits, ...changes })
  let opened = 0
  const recall = (scope: string, row: string, sealed: string, columns = text) =>
    values.get(scope, columns, row, sealed, () => {
      opened++
      return `${columns.columns} of ${row}: ${sealed.slice(0, 8)}`
    })
  return { values, recall, opened: () => opened }
}

test('equal bytes of a row are decrypted once', () => {
  const { recall, opened } = memory()
  assert.equal(recall('a', '1', 'first'), 'text of 1: first')
  assert.equal(recall('a', '1', 'first'), 'text of 1: first')
  assert.equal(opened(), 1)
})

test('other bytes, another row, column or scope are decrypted separately', () => {
  const { recall, opened } = memory()
  const asked: Parameters<typeof recall>[] = [
    ['a', '1', 'first'],
    ['a', '1', 'second'],
    ['a', '2', 'second'],
    ['a', '2', 'second', title],
    ['b', '2', 'second'],
    // The previous value is not cached next to the current one.
    ['a', '1', 'first'],
  ]
  for (const [n, one] of asked.entries()) {
    recall(...one)
    assert.equal(opened(), n + 1)
  }
})

test('pages, events and leads do not evict each other and are forgotten together', () => {
  const values = createPartedCache({ pages: limits, news: limits, leads: limits })
  let opened = 0
  const recall = (columns: EncryptedColumns<string>, row: string) =>
    values.get('a', columns, row, 'x'.repeat(1000), () => `${opened++}`)
  recall(text, '1')
  for (const cachedAs of ['news', 'leads'] as const) {
    const others = { ...text, cachedAs }
    for (let n = 0; n < 50; n++) recall(others, `${n}`)
  }
  recall(text, '1')
  assert.equal(opened, 101)
  assert.ok(values.bytes() <= limits.maxBytes * 3)
  values.forget('a')
  assert.equal(values.bytes(), 0)
})

test('a failed decryption is not cached', () => {
  const { values, recall } = memory()
  const broken = () => {
    throw new Error('altered')
  }
  assert.throws(() => values.get('a', text, '1', 'first', broken), /altered/)
  assert.equal(recall('a', '1', 'first'), 'text of 1: first')
})

test('cached values cannot be modified by their readers', () => {
  const { values } = memory()
  const named: EncryptedColumns<{ name: { first: string } }> = { ...text, read: () => ({ name: { first: 'Ana' } }) }
  const value = values.get('a', named, '1', 'first', () => named.read())
  assert.throws(() => {
    value.name.first = 'Eva'
  }, TypeError)
})

test('each scope and all of them together stay within their limits', () => {
  const { values, recall } = memory()
  for (let n = 0; n < 500; n++) {
    recall('a', String(n), 'x'.repeat(300))
    assert.ok(values.bytes() <= limits.maxScopeBytes, `${values.bytes()} bytes of one`)
  }
  for (let n = 0; n < 500; n++) {
    recall(String(n % 50), String(n), 'x'.repeat(300))
    assert.ok(values.bytes() <= limits.maxBytes, `${values.bytes()} bytes of all`)
  }
})

test('a workspace that reads much does not evict the values of another', () => {
  const { recall, opened } = memory()
  recall('quiet', '1', 'first')
  for (let n = 0; n < 500; n++) recall('busy', String(n), 'x'.repeat(300))
  const before = opened()
  recall('quiet', '1', 'first')
  assert.equal(opened(), before)
})

test('very long values are not cached', () => {
  const { values, recall, opened } = memory({ maxBytes: 10_000_000, maxScopeBytes: 5_000_000 })
  for (const _ of [1, 2]) recall('a', '1', 'x'.repeat(65_537))
  assert.deepEqual([opened(), values.bytes()], [2, 0])
})

test('unused values expire and used ones stay', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { values, recall, opened } = memory()
  recall('a', '1', 'used')
  recall('a', '2', 'unused')
  const before = values.bytes()
  t.mock.timers.tick(limits.maxAgeMs)
  recall('a', '1', 'used')
  t.mock.timers.tick(limits.maxAgeMs)
  recall('a', '1', 'used')
  assert.equal(opened(), 2)
  t.mock.timers.tick(limits.maxAgeMs)
  assert.ok(values.bytes() < before)
  t.mock.timers.tick(2 * limits.maxAgeMs)
  assert.equal(values.bytes(), 0)
})

test('forgetting a scope removes its values and no others', () => {
  const { values, recall, opened } = memory()
  recall('a', '1', 'first')
  recall('b', '1', 'first')
  values.forget('a')
  recall('b', '1', 'first')
  assert.equal(opened(), 2)
  recall('a', '1', 'first')
  assert.equal(opened(), 3)
})
