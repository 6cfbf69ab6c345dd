import assert from 'node:assert/strict'
import { test } from 'node:test'
import { correctedClock, manualClock } from '../../src/base/clock.ts'

const noon = Date.parse('2026-03-01T12:00:00Z')
const minutes = 60_000

/** A local clock next to its reference clock, whose answers take this long. */
function clocks(aheadMs: number, answerMs = 0) {
  const base = manualClock(new Date(noon + aheadMs))
  const other = manualClock(new Date(noon))
  let steadyMs = 0
  const pass = (ms: number) => {
    base.advance(ms)
    other.advance(ms)
    steadyMs += ms
  }
  const at = { answerMs }
  const ask = async () => {
    pass(at.answerMs / 2)
    const now = other.now()
    pass(at.answerMs / 2)
    return now
  }
  const clock = correctedClock(base, ask, () => steadyMs)
  return { base, other, clock, pass, at, apartMs: () => clock.now().getTime() - other.now().getTime() }
}

test('a clock that is ten minutes off uses the reference time from the first reading on', async () => {
  for (const aheadMs of [10 * minutes, -10 * minutes]) {
    const { clock, pass, apartMs } = clocks(aheadMs, 400)
    assert.equal(apartMs(), aheadMs)
    assert.equal(await clock.correct(), true)
    assert.deepEqual([apartMs(), clock.baseAheadMs()], [0, aheadMs])
    pass(minutes)
    assert.equal(apartMs(), 0)
    assert.equal(await clock.correct(), false)
  }
})

test('a clock that is set while running is corrected until it is set right', async () => {
  const { base, other, clock, apartMs } = clocks(0)
  assert.equal(await clock.correct(), false)
  base.advance(60 * minutes)
  assert.equal(await clock.correct(), true)
  assert.equal(apartMs(), 0)
  // The time service corrects it, but not to the millisecond.
  base.set(new Date(other.now().getTime() + 300))
  assert.equal(await clock.correct(), true)
  assert.deepEqual([apartMs(), clock.baseAheadMs()], [300, 0])
})

test('differences of up to a second are ignored and do not change a known correction', async () => {
  const { base, clock, apartMs } = clocks(1000)
  assert.equal(await clock.correct(), false)
  assert.equal(apartMs(), 1000)
  base.advance(10 * minutes)
  assert.equal(await clock.correct(), true)
  base.advance(900)
  assert.equal(await clock.correct(), false)
  assert.equal(apartMs(), 900)
})

test('a slow or failed reading changes nothing', async () => {
  const { clock, at, apartMs } = clocks(10 * minutes, 1200)
  assert.equal(await clock.correct(), false)
  assert.equal(clock.baseAheadMs(), 0)
  at.answerMs = 1000
  await clock.correct()
  assert.equal(apartMs(), 0)
  const away = correctedClock(manualClock(new Date(noon)), () => Promise.reject(new Error('away')))
  await assert.rejects(() => away.correct(), /away/)
  assert.equal(away.now().getTime(), noon)
})
