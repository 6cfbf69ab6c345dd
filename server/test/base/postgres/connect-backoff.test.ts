import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConnectBackoff } from '../../../src/base/postgres/retry-rules.ts'

/** Fails this many attempts, each started as early as allowed, and returns the times between their starts. */
function pausesAfter(failures: number): number[] {
  const tries = new ConnectBackoff()
  let now = 1_000
  return Array.from({ length: failures }, () => {
    tries.startAttempt(now).failed()
    const pauseMs = tries.pauseMs(now)
    now += pauseMs
    return pauseMs
  })
}

test('the pause between attempts doubles, up to half a second', () => {
  assert.deepEqual(pausesAfter(8), [20, 40, 80, 160, 320, 500, 500, 500])
})

const cases: [what: string, script: (tries: ConnectBackoff) => void, pauseMs: number, nowMs: number][] = [
  ['initially', () => {}, 0, 0],
  ['after a failure', (tries) => tries.startAttempt(0).failed(), 20, 0],
  ['some time after a failure', (tries) => tries.startAttempt(0).failed(), 5, 15],
  ['long after many failures', inTurn, 0, 60_000],
  ['after ten concurrent failures', (tries) => together(tries, 10), 20, 0],
  ['after one of two concurrent attempts failed', oneOfTwo, 0, 0],
  ['after an attempt longer than the pause', (tries) => tries.startAttempt(0).failed(), 0, 5_000],
]
for (const [what, script, pauseMs, nowMs] of cases) {
  test(`${what} the next attempt waits for ${pauseMs} ms`, () => {
    const tries = new ConnectBackoff()
    script(tries)
    assert.equal(tries.pauseMs(nowMs), pauseMs)
  })
}

function together(tries: ConnectBackoff, count: number): void {
  const begun = Array.from({ length: count }, () => tries.startAttempt(0))
  for (const one of begun) one.failed()
}

function inTurn(tries: ConnectBackoff): void {
  for (let ms = 0; ms < 5; ms++) tries.startAttempt(ms).failed()
}

function oneOfTwo(tries: ConnectBackoff): void {
  const [first, second] = [tries.startAttempt(0), tries.startAttempt(0)]
  first.failed()
  second.succeeded()
}
