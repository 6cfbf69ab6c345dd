import assert from 'node:assert/strict'
import { test } from 'node:test'
import { throttle } from '../../../src/base/async/throttle.ts'

const cases: [when: string, steps: (string | number)[], done: string[]][] = [
  ['idle: at once', ['a'], ['a']],
  ['resting: not yet', ['a', 'a', 9], ['a']],
  ['at the end of the rest: once, however often it was asked for', ['a', 'a', 'a', 10], ['a', 'a']],
  ['not asked for again: no more', ['a', 10, 10], ['a']],
  ['rests after that one too', ['a', 'a', 10, 'a', 9], ['a', 'a']],
  ['rested: at once', ['a', 10, 'a'], ['a', 'a']],
  ['another id: has a rest of its own', ['a', 'b', 'b', 9], ['a', 'b']],
]

for (const [when, steps, done] of cases) {
  test(`work is done at most once in a rest: ${when}`, (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const ids: string[] = []
    const ask = throttle(10, (id) => void ids.push(id))
    for (const step of steps) {
      if (typeof step === 'string') ask(step)
      else t.mock.timers.tick(step)
    }
    assert.deepEqual(ids, done)
  })
}

test('work that throws rests like any other, and is done again after it', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let runs = 0
  const ask = throttle(10, () => {
    runs++
    if (runs === 1) throw new Error('no')
  })
  assert.throws(() => ask('a'), /no/)
  ask('a')
  assert.equal(runs, 1)
  t.mock.timers.tick(10)
  assert.equal(runs, 2)
})
