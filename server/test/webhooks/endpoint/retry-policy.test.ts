import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  afterFailure,
  afterSuccess,
  decideRetry,
  type Health,
  hasFailedTooLong,
  isProbed,
  retryAfterMs,
  retryDelayMs,
} from '../../../src/webhooks/endpoint/retry-policy.ts'

const at = new Date('2026-03-10T12:00:00.000Z')
const seconds = (count: number) => new Date(at.getTime() + count * 1000)
const health: Health = { failingSince: null, failuresInARow: 0, lastSuccessAt: null, pausedUntil: null }

test('a failed delivery is retried after 5 s, 30 s, 2 min, 10 min, 1 h, 3 h, 6 h, 12 h, 24 h and 24 h, then fails', () => {
  const waits = [5, 30, 120, 600, 3600, 3 * 3600, 6 * 3600, 12 * 3600, 24 * 3600, 24 * 3600]
  for (const [roundAttempts, wait] of waits.entries()) {
    const attempt = { at, status: 500, error: null }
    const verdict = decideRetry({ roundAttempts, isTest: false }, attempt, { pauseMs: null, random: 0 })
    assert.deepEqual(verdict, { next: 'retry', dueAt: seconds(wait) })
  }
  const last = decideRetry(
    { roundAttempts: 10, isTest: false },
    { at, status: 500, error: null },
    { pauseMs: null, random: 0 },
  )
  assert.deepEqual(last, { next: 'failed' })
})

test('a retry is never early, and at most a fifth late', () => {
  assert.deepEqual([retryDelayMs(1, 0), retryDelayMs(1, 1), retryDelayMs(10, 0.5)], [5000, 6000, 95_040_000])
})

test('Retry-After is parsed as seconds or a date, and limited to a day', () => {
  for (const [value, ms] of [
    ['120', 120_000],
    [' 7 ', 7000],
    ['0', null],
    ['-5', null],
    ['1.5', null],
    ['soon', null],
    ['', null],
    [undefined, null],
    ['99999999999999999999', 86_400_000],
    ['Tue, 10 Mar 2026 12:00:30 GMT', 30_000],
    ['Tue, 10 Mar 2026 11:00:00 GMT', null],
    ['Fri, 10 Apr 2026 11:00:00 GMT', 86_400_000],
  ] as const) {
    assert.equal(retryAfterMs(value, at), ms, String(value))
  }
})

test('2xx is success; redirects and all others are failures; 410 ends the endpoint', () => {
  const next = (status: number | null, error: string | null = null) =>
    decideRetry({ roundAttempts: 0, isTest: false }, { at, status, error }, { pauseMs: null, random: 0 }).next
  for (const status of [200, 201, 202, 204, 299]) assert.equal(next(status), 'delivered')
  for (const status of [199, 300, 301, 302, 304, 307, 400, 401, 404, 409, 429, 500, 503, 599])
    assert.equal(next(status), 'retry')
  assert.equal(next(410), 'gone')
  for (const error of ['timeout', 'connect', 'tls', 'dns', 'reset', 'answer', 'internal', 'forbidden_address'])
    assert.equal(next(null, error), 'retry')
  assert.equal(next(null, 'expired'), 'failed')
})

test('the next attempt is not before the pause that the receiver requested', () => {
  const dueAt = (pauseMs: number) => {
    const attempt = { at, status: 503, error: null }
    const verdict = decideRetry({ roundAttempts: 0, isTest: false }, attempt, { pauseMs, random: 0 })
    return verdict.next === 'retry' ? verdict.dueAt : null
  }
  assert.deepEqual(dueAt(1000), seconds(5))
  assert.deepEqual(dueAt(90_000), seconds(90))
})

test('a payload that cannot be rendered fails after three attempts, a test event after one', () => {
  const attempt = { at, status: null, error: 'internal' }
  const next = (roundAttempts: number, isTest = false) =>
    decideRetry({ roundAttempts, isTest }, attempt, { pauseMs: null, random: 0 }).next
  assert.deepEqual([next(0), next(1), next(2)], ['retry', 'retry', 'failed'])
  assert.equal(next(0, true), 'failed')
})

test('after five failures in a row, an endpoint is probed with pauses that grow to a minute', () => {
  let now = health
  const pauses: number[] = []
  for (let n = 0; n < 11; n++) {
    now = afterFailure(now, at, null)
    pauses.push(((now.pausedUntil?.getTime() ?? at.getTime()) - at.getTime()) / 1000)
  }
  assert.deepEqual(pauses, [0, 0, 0, 0, 5, 10, 20, 40, 60, 60, 60])
  assert.equal(isProbed(now), true)
  now = afterSuccess(now, seconds(1))
  assert.deepEqual(now, { failingSince: null, failuresInARow: 0, lastSuccessAt: seconds(1), pausedUntil: null })
})

test('a requested pause outlasts a success and is never shortened', () => {
  const paused = afterFailure(health, at, 60_000)
  assert.deepEqual(afterSuccess(paused, seconds(1)).pausedUntil, seconds(60))
  assert.deepEqual(afterFailure(paused, seconds(1), 1000).pausedUntil, seconds(60))
})

test('an endpoint has failed too long five days after the first failure since the last success', () => {
  const failing = afterFailure(health, at, null)
  assert.equal(hasFailedTooLong(failing, seconds(5 * 86_400 - 1)), false)
  assert.equal(hasFailedTooLong(failing, seconds(5 * 86_400)), true)
  assert.equal(hasFailedTooLong(afterSuccess(failing, seconds(9)), seconds(9 * 86_400)), false)
})
