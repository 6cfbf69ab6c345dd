import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type EndpointStatus, nextAttemptAt } from '../../../src/webhooks/endpoint/queue-status.ts'
import { headerIssues } from '../../../src/webhooks/endpoint/schema.ts'
import { createSecret, rotateSecrets, validSecrets } from '../../../src/webhooks/endpoint/signing.ts'
import { eventNamesOf, streamedNames } from '../../../src/webhooks/event-catalog.ts'
import { explainAttempt } from '../../../src/webhooks/manage/delivery-routes.ts'

const now = new Date('2026-03-10T12:00:00.000Z')
const in1s = new Date(now.getTime() + 1000)
const in2s = new Date(now.getTime() + 2000)
const hourMs = 3_600_000

test('a pattern is an event name or a group, which leaves out events that must be named', () => {
  const [leads, inbox] = [streamedNames.slice(0, 4), streamedNames.slice(4)]
  const table: [string[], readonly string[]][] = [
    [['lead.*'], leads],
    [['inbox.*'], inbox],
    [['lead.*', 'inbox.*'], streamedNames],
    [
      ['lead.*', 'lead.merged'],
      [...leads, 'lead.merged'],
    ],
    [['conversation.assigned'], ['conversation.assigned']],
    [['conversation.*'], []],
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
  for (const [patterns, names] of table) assert.deepEqual(eventNamesOf(patterns), names, patterns.join())
})

test('an old secret signs until its overlap ends, is never extended, and five secrets are the maximum', () => {
  const first = [createSecret()]
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

test('custom headers cannot replace headers of the service', () => {
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

test('the next attempt is when the retry is due and no pause applies', () => {
  const calm: EndpointStatus = {
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
  const table: [Partial<EndpointStatus>, Date | null][] = [
    [{}, null],
    [{ retryAt: in1s }, null],
    [{ pending: 1, retryAt: in1s }, in1s],
    [{ pending: 1, retryAt: in1s, pausedUntil: in2s }, in2s],
    [{ pending: 1, retryAt: in2s, pausedUntil: in1s }, in2s],
    [{ pending: 1, retryAt: now }, null],
    [{ pending: 1, behind: 1, retryAt: in1s }, null],
    [{ behind: 1, pausedUntil: in1s }, in1s],
  ]
  for (const [status, next] of table) assert.deepEqual(nextAttemptAt({ ...calm, ...status }, now), next)
})

test('an unsuccessful attempt is explained in a sentence', () => {
  for (const status of [200, 204, 299]) assert.equal(explainAttempt({ status, error: null }), null)
  const table: [number | null, string | null, RegExp][] = [
    [410, null, /disabled/],
    [500, null, /500.*2xx/],
    [302, null, /redirects are not followed/],
    [null, 'timeout', /15 seconds/],
    [null, 'dns', /name/],
    [null, 'forbidden_address', /not public/],
    [null, 'something new', /No response/],
  ]
  for (const [status, error, words] of table) assert.match(explainAttempt({ status, error }) ?? '', words)
})
