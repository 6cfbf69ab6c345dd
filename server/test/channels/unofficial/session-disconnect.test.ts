import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  baileysMissing,
  type CloseDecision,
  decideAfterClose,
} from '../../../src/channels/unofficial/session/disconnect.ts'

const first = { isPairing: false, attempt: 0, random: 0 }
const pairing = { ...first, isPairing: true }
const later = (attempt: number) => ({ ...first, attempt })
const again = (delayMs: number): CloseDecision => ({ act: 'reconnect', delayMs })
const stop = (reason: Extract<CloseDecision, { act: 'stop' }>['reason'], forgets = false): CloseDecision => ({
  act: 'stop',
  reason,
  forgets,
})

const rows: [code: number | null, at: typeof first, after: CloseDecision][] = [
  [515, first, again(0)],
  [515, pairing, again(0)],
  [515, later(2), again(0)],
  // A server that requests restarts endlessly must not be called in a tight loop.
  [515, later(3), again(8_000)],
  [408, first, again(1_000)],
  [408, pairing, stop('pairing_ended', true)],
  [428, first, again(1_000)],
  [428, pairing, again(1_000)],
  [503, first, again(1_000)],
  [599, first, again(1_000)],
  [null, first, again(1_000)],
  [null, pairing, again(1_000)],
  [null, { ...pairing, attempt: 4 }, again(16_000)],
  [null, { ...pairing, attempt: 5 }, stop('network_unreachable', true)],
  [null, later(5), again(30_000)],
  [500, first, again(1_000)],
  [500, later(2), again(4_000)],
  [500, later(3), stop('bad_session')],
  [401, first, stop('logged_out', true)],
  [401, pairing, stop('logged_out', true)],
  [402, first, stop('banned_temporarily')],
  [403, first, stop('forbidden')],
  [405, first, stop('client_outdated')],
  [406, first, stop('banned')],
  [409, first, stop('bad_user_agent')],
  [411, first, stop('device_mismatch')],
  [440, first, stop('replaced')],
  [440, later(50), stop('replaced')],
  [baileysMissing, first, stop('baileys_missing')],
]

test('a close leads to a reconnect, or to a stop with a reason', () => {
  for (const [code, at, after] of rows)
    assert.deepEqual(decideAfterClose(code, at), after, `${code} ${JSON.stringify(at)}`)
})

test('the delay doubles from one second to a minute, with jitter over its half', () => {
  const delayOf = (attempt: number, random: number) => {
    const after = decideAfterClose(428, { isPairing: false, attempt, random })
    assert.ok(after.act === 'reconnect')
    return after.delayMs
  }
  assert.deepEqual(
    [0, 1, 2, 3, 4, 5, 6, 1000].map((attempt) => delayOf(attempt, 0)),
    [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000],
  )
  assert.equal(delayOf(0, 1), 2_000)
  assert.equal(delayOf(1000, 1), 60_000)
})
