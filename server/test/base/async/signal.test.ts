import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSignal } from '../../../src/base/async/loop.ts'

test('a wake reaches all current waiters and no later ones', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const signal = createSignal()
  signal.wake()
  const before = [signal.next(), signal.nextWithin(1000).then((isWoken) => assert.equal(isWoken, true))]
  signal.wake()
  const after = signal.nextWithin(1000)
  await Promise.all(before)
  t.mock.timers.tick(1000)
  assert.equal(await after, false)
})
