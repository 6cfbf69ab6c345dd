import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judgeCallbackUrl, judgeConnection } from '../../../src/channels/check/general-steps.ts'
import type { StoredConnection } from '../../../src/channels/connection/connection.ts'
import { judgeKey, judgeWebhook } from '../../../src/channels/partner/adapter.ts'
import { judgeProbe } from '../../../src/channels/waba/setup/examine.ts'
import { wabaAt } from '../../support/channels/connections.ts'

const now = new Date('2026-03-01T12:00:00.000Z')
const ownUrl = 'https://parley.example/channels/waba/1/webhook'
const elsewhere = 'https://other.example/hook'
const connection = wabaAt('https://graph.facebook.com')

test('the callback URL must be public, secure and short for the real platform, and anything for a local one', () => {
  const [real, local] = ['https://graph.facebook.com', 'http://127.0.0.1:7008']
  const code = (url: string, platform: string) => judgeCallbackUrl(url, platform)?.code ?? null
  assert.deepEqual(
    [code(ownUrl, real), code('http://parley.example/x', real), code('https://10.0.0.5/x', real)],
    [null, 'callback_not_https', 'callback_not_public'],
  )
  assert.equal(code('http://127.0.0.1:7007/x', real), 'callback_not_public')
  assert.equal(code(`https://parley.example/${'x'.repeat(200)}`, real), 'callback_too_long')
  assert.equal(code('http://127.0.0.1:7007/x', local), null)
  const probes = [
    judgeProbe({ outcome: 'answered', status: 200, body: 'challenge' }, 'challenge'),
    judgeProbe({ outcome: 'answered', status: 404, body: 'challenge' }, 'challenge'),
    judgeProbe({ outcome: 'not_sent', code: 'timeout' }, 'challenge'),
  ].map(({ status, code: found }) => `${status} ${found}`)
  assert.deepEqual(probes, ['ok callback_answers', 'failed callback_mismatch', 'warning callback_untested'])
})

test('a partner: the key by one of two calls, and the URL that it has', () => {
  const meaning = { outcome: 'refused', effect: 'none' } as const
  const down = { outcome: 'refused', effect: 'connection_unavailable' } as const
  const missing = { ok: false, errorCode: 'http_404', meaning } as const
  const wrongKey = { ok: false, errorCode: 'invalid_api_key', meaning: down } as const
  const lost = { ok: false, errorCode: 'timeout', meaning: { outcome: 'unreachable' } } as const
  const found = (url: string) => ({ ok: true, body: { url } }) as const
  const key = (...answers: Parameters<typeof judgeKey>) => judgeKey(...answers).code
  assert.deepEqual(
    [key(found(''), missing), key(missing, found('')), key(missing, missing), key(wrongKey, wrongKey), key(lost, lost)],
    ['key_valid', 'key_valid', 'key_unconfirmed', 'key_invalid', 'unreachable'],
  )
  const hook = (given: Parameters<typeof judgeWebhook>[0]) => judgeWebhook(given, ownUrl).code
  assert.deepEqual(
    [hook(found(ownUrl)), hook(found(elsewhere)), hook(found('')), hook(missing), hook(wrongKey)],
    ['subscribed', 'other_callback', 'not_subscribed', 'callback_unknown', 'not_checked'],
  )
})

test('every channel has lines about traffic, state and, if it is unofficial, the risk', () => {
  const one = (more: object) =>
    ({ ...connection, lastEventInAt: null, createdAt: now, ...more }) as unknown as StoredConnection
  const codes = (more: object) => judgeConnection(one(more), now).map(({ code }) => code)
  assert.deepEqual(codes({}), ['nothing_arrived', 'can_send'])
  assert.deepEqual(codes({ lastEventInAt: now, state: 'paused' }), ['messages_arrive', 'sending_paused'])
  assert.deepEqual(codes({ state: 'unavailable', stateReason: 'setup' }), ['nothing_arrived', 'in_setup'])
  assert.deepEqual(codes({ state: 'unavailable', stateReason: 'platform_error_190' }), [
    'nothing_arrived',
    'cannot_send',
  ])
  const unofficial = { channel: 'unofficial', acknowledgedAt: null }
  assert.deepEqual(codes(unofficial), ['risk_not_accepted', 'nothing_arrived', 'can_send'])
  assert.deepEqual(codes({ ...unofficial, acknowledgedAt: now })[0], 'risk_accepted')
})
