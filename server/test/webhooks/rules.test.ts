import assert from 'node:assert/strict'
import { test } from 'node:test'
<<<<<<< HEAD
import { retryAfterMs, retryDelayMs } from '../../src/webhooks/backoff.ts'
import { afterFailure, afterSuccess, type Health, isHopeless, isProbed } from '../../src/webhooks/health.ts'
import { judge } from '../../src/webhooks/verdict.ts'

const at = new Date('2026-03-10T12:00:00.000Z')
const seconds = (count: number) => new Date(at.getTime() + count * 1000)
const health: Health = { failingSince: null, failuresInARow: 0, lastSuccessAt: null, pausedUntil: null }

test('a retry comes never earlier than its time, and at most a fifth later', () => {
  assert.equal(retryDelayMs(1, 0), 5000)
  assert.equal(retryDelayMs(1, 1), 6000)
  assert.equal(retryDelayMs(10, 0.5), 95_040_000)
  assert.equal(retryDelayMs(11, 0), null)
})

test('Retry-After is read as seconds or as a date, and bounded to a day', () => {
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

test('2xx is success; a redirect and everything else is a failure; 410 ends it', () => {
  const next = (status: number | null, error: string | null = null) =>
    judge({ roundAttempts: 0, isTest: false }, { at, status, error }, { pauseMs: null, random: 0 }).next
  for (const status of [200, 201, 202, 204, 299]) assert.equal(next(status), 'delivered')
  for (const status of [199, 300, 301, 302, 304, 307, 400, 401, 404, 409, 429, 500, 503, 599])
    assert.equal(next(status), 'retry')
  assert.equal(next(410), 'gone')
  for (const error of ['timeout', 'connect', 'tls', 'dns', 'reset', 'answer', 'internal', 'forbidden_address'])
    assert.equal(next(null, error), 'retry')
  assert.equal(next(null, 'expired'), 'failed')
})

test('the next attempt is not before the pause that the receiver asks for', () => {
  const dueAt = (pauseMs: number) => {
    const attempt = { at, status: 503, error: null }
    const verdict = judge({ roundAttempts: 0, isTest: false }, attempt, { pauseMs, random: 0 })
    return verdict.next === 'retry' ? verdict.dueAt : null
  }
  assert.deepEqual(dueAt(1000), seconds(5))
  assert.deepEqual(dueAt(90_000), seconds(90))
})

test('what we cannot render is given up after three tries; a test event after one', () => {
  const attempt = { at, status: null, error: 'internal' }
  const next = (roundAttempts: number, isTest = false) =>
    judge({ roundAttempts, isTest }, attempt, { pauseMs: null, random: 0 }).next
  assert.deepEqual([next(0), next(1), next(2)], ['retry', 'retry', 'failed'])
  assert.equal(next(0, true), 'failed')
})

test('after five failures in a row an endpoint is probed, at pauses that grow to a minute, until it answers', () => {
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

test('a pause that was asked for outlasts a success, and is never made shorter', () => {
  const paused = afterFailure(health, at, 60_000)
  assert.deepEqual(afterSuccess(paused, seconds(1)).pausedUntil, seconds(60))
  assert.deepEqual(afterFailure(paused, seconds(1), 1000).pausedUntil, seconds(60))
})

test('an endpoint is hopeless when five days have passed since the first failure behind the last success', () => {
  const failing = afterFailure(health, at, null)
  assert.equal(isHopeless(failing, seconds(5 * 86_400 - 1)), false)
  assert.equal(isHopeless(failing, seconds(5 * 86_400)), true)
  assert.equal(isHopeless(afterSuccess(failing, seconds(9)), seconds(9 * 86_400)), false)
=======
import { newId } from '../../src/base/id.ts'
import { allEventNames } from '../../src/events/catalogue.ts'
import { explain } from '../../src/webhooks/delivery-detail.ts'
import { firstIdAt, timeOfId } from '../../src/webhooks/first-id.ts'
import { headerIssues } from '../../src/webhooks/header-rules.ts'
import { namesOf } from '../../src/webhooks/patterns.ts'
import { makeSecret, rotateSecrets, validSecrets } from '../../src/webhooks/secrets.ts'
import { nextAttemptAt, type Standing } from '../../src/webhooks/standing.ts'

const now = new Date('2026-03-10T12:00:00.000Z')
const in1s = new Date(now.getTime() + 1000)
const in2s = new Date(now.getTime() + 2000)
const hourMs = 3_600_000

test('a pattern is an exact name or all of one kind', () => {
  const [leads, inbox] = [allEventNames.slice(0, 4), allEventNames.slice(4)]
  const table: [string[], readonly string[]][] = [
    [['lead.*'], leads],
    [['inbox.*'], inbox],
    [['lead.*', 'inbox.*'], allEventNames],
    [['lead.created'], ['lead.created']],
    [
      ['lead.created', 'inbox.message.sent'],
      ['lead.created', 'inbox.message.sent'],
    ],
    [['lead'], []],
    [['*'], []],
    [['toString'], []],
    [[], []],
  ]
  for (const [patterns, names] of table) assert.deepEqual(namesOf(patterns), names, patterns.join())
})

test('a secret is whsec_ and 32 random bytes', () => {
  const [one, other] = [makeSecret(), makeSecret()]
  assert.equal(Buffer.from(one.value.replace('whsec_', ''), 'base64').length, 32)
  assert.notEqual(one.value, other.value)
})

test('a secret signs until its overlap has passed; none is prolonged, and five are the most', () => {
  const first = [makeSecret()]
  const second = rotateSecrets(first, hourMs, now)
  assert.deepEqual(validSecrets(second, now), second)
  assert.equal(second[1]?.expiresAt, '2026-03-10T13:00:00.000Z')
  assert.deepEqual(validSecrets(second, new Date(now.getTime() + hourMs)), [second[0]])
  const third = rotateSecrets(second, 24 * hourMs, now)
  assert.deepEqual(
    third.map(({ expiresAt }) => expiresAt),
    [null, '2026-03-11T12:00:00.000Z', '2026-03-10T13:00:00.000Z'],
  )
  assert.equal(rotateSecrets(third, 0, now).length, 1)
  let many = first
  for (let n = 0; n < 9; n++) many = rotateSecrets(many, hourMs, now)
  assert.equal(many.length, 5)
})

test('headers of an endpoint are its own: none that the service sets', () => {
  for (const name of ['Authorization', 'X-Api-Key', 'cookie', 'accept']) {
    assert.deepEqual(headerIssues({ [name]: 'v' }), [], name)
  }
  const taken = 'host connection keep-alive transfer-encoding te trailer upgrade expect date user-agent content-length'
  for (const name of [...taken.split(' '), 'content-type', 'Webhook-Signature', 'proxy-authorization']) {
    const [issue] = headerIssues({ [name]: 'v' })
    assert.equal(issue?.path, `headers.${name}`)
    assert.match(issue?.message ?? '', /set by the service/)
  }
})

test('the first id of a time stands before every id that is made then, and tells it', () => {
  const id = newId(now)
  assert.ok(firstIdAt(now) <= id)
  assert.ok(firstIdAt(in1s) > id)
  assert.deepEqual(timeOfId(firstIdAt(now)), now)
  assert.equal(firstIdAt(new Date(-1)), '00000000-0000-0000-0000-000000000000')
})

test('the next attempt is when the retry is due and no pause holds it back', () => {
  const calm: Standing = {
    endpointId: '',
    pausedUntil: null,
    failingSince: null,
    failuresInARow: 0,
    lastSuccessAt: null,
    retryAt: null,
    pending: 0,
    oldestPendingAt: null,
    behind: 0,
    oldestBehindAt: null,
  }
  const table: [Partial<Standing>, Date | null][] = [
    [{}, null],
    [{ retryAt: in1s }, null],
    [{ pending: 1, retryAt: in1s }, in1s],
    [{ pending: 1, retryAt: in1s, pausedUntil: in2s }, in2s],
    [{ pending: 1, retryAt: in2s, pausedUntil: in1s }, in2s],
    [{ pending: 1, retryAt: now }, null],
    [{ pending: 1, behind: 1, retryAt: in1s }, null],
    [{ behind: 1, pausedUntil: in1s }, in1s],
  ]
  for (const [standing, next] of table) assert.deepEqual(nextAttemptAt({ ...calm, ...standing }, now), next)
})

test('an attempt that was not taken is explained in a sentence', () => {
  for (const status of [200, 204, 299]) assert.equal(explain({ status, error: null }), null)
  const table: [number | null, string | null, RegExp][] = [
    [301, null, /redirects/],
    [410, null, /disabled/],
    [500, null, /500.*2xx/],
    [null, 'dns', /name/],
    [null, 'forbidden_address', /not public/],
    [null, 'something new', /No answer/],
  ]
  for (const [status, error, words] of table) assert.match(explain({ status, error }) ?? '', words)
>>>>>>> main
})
