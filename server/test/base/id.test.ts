import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../../src/base/id.ts'

test('ids increase in the order of creation, however many are created in a millisecond', () => {
  const at = (ms: number) => Array.from({ length: 10_000 }, () => newId(new Date(ms)))
  const ids = [...at(1_000_000), ...at(1_000_001), ...at(1_000_050)]
  const back = ids.findIndex((id, n) => n > 0 && id < (ids[n - 1] ?? ''))
  assert.equal(back, -1)
  assert.equal(new Set(ids).size, ids.length)
})

test('ids follow a clock that is set back', () => {
  const ids = [newId(new Date(2_000_000)), newId(new Date(1_000_000))]
  assert.deepEqual(ids, ids.toSorted().reverse())
})
