import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { maxInSetup } from '../../../src/channels/connection/change-connection.ts'
import { newestAudit } from '../../support/audit.ts'
import { type ChannelWorld, channelWorld, partnerKey } from '../../support/channels/channel-world.ts'
import type { Loose } from '../../support/channels/rigs.ts'
import { simulatorWorld } from '../../support/channels/simulator.ts'
import { freePort } from '../../support/program/service.ts'

const s = await simulatorWorld()
const baseUrl = s.simulator.url
const port = await freePort()
const w = await channelWorld(baseUrl, `http://127.0.0.1:${port}`)
await w.app.listen({ host: '127.0.0.1', port })
after(() => w.app.close())
// Both sides compare times of the other.
w.clock.advance(Date.now() - w.clock.now().getTime())

let phones = 0
/** A number that its owner has only just added on the platform. */
async function newNumber(more: object = {}): Promise<Loose> {
  const body = { name: 'Second shop', phone: `15550784${String(100 + phones++)}`, isNew: true, ...more }
  const { status, body: number } = await s.call('POST', '/simulator/numbers', body)
  assert.equal(status, 201, JSON.stringify(number))
  return number
}

const change = async (number: Loose, fields: object) => {
  const answer = await s.call('PATCH', `/simulator/numbers/${number.numberId}`, fields)
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
}

/** Calls the team API as an admin; time passes, so that calls are not refused for being too many. */
async function call(at: ChannelWorld, method: 'GET' | 'POST' | 'PATCH', path: string, body?: object): Promise<Loose> {
  at.clock.advance(11_000)
  const answer = await at.call(method, path, body)
  assert.ok(answer.statusCode < 300, `${method} ${path}: ${answer.body}`)
  return answer.json()
}

const start = async ({ accessToken, appSecret }: Loose, more: object = {}): Promise<string> => {
  const input = { channel: 'waba', name: 'Second shop', accessToken, appSecret, baseUrl, ...more }
  return (await call(w, 'POST', '', input)).connection.id
}

/** Returns what the steps say that need a person. */
const open = ({ check }: Loose): string[] =>
  check.steps.filter(({ status }: Loose) => status === 'failed').map(({ step, code }: Loose) => `${step} ${code}`)
const codeOf = ({ check }: Loose, wanted: string): string =>
  check.steps.find(({ step }: Loose) => step === wanted)?.code ?? 'nothing'

test('a number is connected step by step: token, number, registration, webhook; it sends only then', async () => {
  const number = await newNumber({})
  await change(number, { tokenState: 'expired', pin: '246802' })
  const id = await start(number)
  const [before] = (await call(w, 'GET', '')).connections.filter((one: Loose) => one.id === id)
  assert.deepEqual([before.state, before.stateReason, before.numberId], ['unavailable', 'setup', id])
  assert.equal((await call(w, 'GET', `/${id}/check`)).check, null)

  assert.deepEqual(open(await call(w, 'POST', `/${id}/check`)), ['token token_expired'])
  await change(number, { tokenState: 'valid' })
  const chosen = await call(w, 'POST', `/${id}/check`)
  assert.deepEqual(open(chosen), ['account account_not_chosen', 'number number_not_chosen'])
  assert.equal((await w.call('POST', `/${id}/register`, { pin: '123456' })).statusCode, 409)

  const { accounts } = await call(w, 'GET', `/${id}/numbers`)
  assert.deepEqual(
    accounts.map((one: Loose) => [one.id, one.numbers]),
    [
      [
        number.accountId,
        [{ id: number.numberId, phone: `+${number.phone}`, name: 'Second shop', isOnPhone: false, isConnected: false }],
      ],
    ],
  )
  const { accountId, numberId } = number
  const patched = await call(w, 'PATCH', `/${id}`, { accountId, numberId })
  assert.deepEqual([patched.connection.stateReason, patched.connection.phone], ['setup', number.phone])
  assert.equal((await call(w, 'GET', `/${id}/check`)).check, null, 'the report was about no number')
  assert.deepEqual(open(await call(w, 'POST', `/${id}/check`)), [
    'registration not_registered',
    'webhook not_subscribed',
  ])
  // The page shows what is done when it is opened again.
  assert.equal((await call(w, 'GET', `/${id}/check`)).check.steps.length, 12)

  const wrong = await call(w, 'POST', `/${id}/register`, { pin: '111111' })
  assert.equal(codeOf(wrong, 'registration'), 'pin_wrong')
  const registered = await call(w, 'POST', `/${id}/register`, { pin: '246802' })
  assert.deepEqual([codeOf(registered, 'registration'), registered.connection.state], ['registered', 'unavailable'])

  const done = await call(w, 'POST', `/${id}/subscribe`)
  assert.deepEqual(
    [open(done), codeOf(done, 'webhook'), codeOf(done, 'callback')],
    [[], 'subscribed', 'callback_answers'],
  )
  assert.deepEqual([done.connection.state, done.connection.stateReason], ['active', null])
  assert.deepEqual([codeOf(done, 'sending'), codeOf(done, 'messages')], ['can_send', 'nothing_arrived'])
  const actions = (await newestAudit(w.deps.db.sql, w.workspaceId, 5)).map(({ action }) => action).reverse()
  assert.deepEqual(
    actions,
    ['added', 'changed', 'registered', 'subscribed', 'connected'].map((one) => `connection.${one}`),
  )

  // A real message of a customer arrives at the address that Parley set.
  const customer = await s.customer({ numberId })
  await s.says(customer.id, { text: 'Are you open?' })
  await s.simulator.settled()
  assert.ok(w.received.some(({ connection }) => connection.id === id))
  assert.equal((await call(w, 'POST', `/${id}/register`, { pin: '999999' })).connection.state, 'active', 'done before')
  assert.equal((await call(w, 'POST', `/${id}/subscribe`)).connection.state, 'active', 'repeated')
  const everything = JSON.stringify([done, w.lines])
  for (const secret of [number.accessToken, number.appSecret, '246802', '111111'])
    assert.ok(!everything.includes(secret))
})

test('a connection in setup sends nothing, is not retried, and cannot be paused, resumed or synced', async () => {
  const id = await start(await newNumber())
  for (const path of ['pause', 'resume', 'templates/sync']) {
    assert.equal((await w.call('POST', `/${id}/${path}`)).statusCode, 409, path)
  }
  const [row] = await w.deps.db.sql<{ due: Date | null; reserved: string | null }[]>`
    select templates_due_at as due, reserved_as as reserved from connections where id = ${id}`
  assert.deepEqual(row, { due: null, reserved: null })
  const many = await channelWorld(baseUrl)
  const input = { channel: 'waba', name: 'A', accessToken: 'a-token-of-20-chars!', appSecret: 'an-app-secret', baseUrl }
  for (let n = 0; n < maxInSetup; n++) await call(many, 'POST', '', input)
  const refused = await many.call('POST', '', input)
  assert.match(
    `${refused.statusCode} ${refused.json().statusMessage}`,
    /^409 A workspace has at most 20 connections in setup/,
  )
})

test('the steps of other channels: conflicts, and reports of a partner and a phone', async () => {
  const number = await newNumber({ isPartners: true, isNew: false })
  const apiKey = number.partner.apiKey
  const { connection } = await call(w, 'POST', '', {
    ...{ channel: 'partner', profile: '360dialog', name: 'Partner', numberId: number.numberId, apiKey, baseUrl },
  })
  for (const [method, path, body] of [
    ['POST', 'subscribe', undefined],
    ['POST', 'register', { pin: '123456' }],
    ['POST', 'history', undefined],
    ['GET', 'numbers', undefined],
  ] as const) {
    w.clock.advance(11_000)
    assert.equal((await w.call(method, `/${connection.id}/${path}`, body)).statusCode, 409, path)
  }
  const good = await call(w, 'POST', `/${connection.id}/check`)
  assert.deepEqual(
    good.check.steps.map(({ code }: Loose) => code),
    ['key_valid', 'subscribed', 'callback_public', 'nothing_arrived', 'can_send'],
  )
  await call(w, 'PATCH', `/${connection.id}`, { apiKey: partnerKey })
  const bad = await call(w, 'POST', `/${connection.id}/check`)
  assert.deepEqual(open(bad), ['credentials key_invalid', 'sending cannot_send'])
  const phone = (await call(w, 'POST', '', { channel: 'unofficial', name: 'Phone', baseUrl })).connection
  const unlinked = await call(w, 'POST', `/${phone.id}/check`)
  assert.deepEqual(open(unlinked), ['link not_linked', 'risk risk_not_accepted', 'sending cannot_send'])
  assert.equal(unlinked.check.steps[0].advice, 'No phone is linked yet. Pair one.')
})

test('contacts and history are requested once, and the deadline is shown', async () => {
  const number = await newNumber({ isNew: false })
  const { accountId, numberId } = number
  const id = await start(number, { accountId, numberId })
  assert.equal(codeOf(await call(w, 'POST', `/${id}/check`), 'history'), 'history_open')
  await call(w, 'POST', `/${id}/subscribe`)
  assert.equal(codeOf(await call(w, 'POST', `/${id}/history`), 'history'), 'history_requested')
  assert.equal(codeOf(await call(w, 'POST', `/${id}/history`), 'history'), 'history_requested')
  const asked = s.simulator.platform.journal.list().filter((one) => 'path' in one && one.path.endsWith('/smb_app_data'))
  assert.equal(asked.length, 2, 'not asked again')
  const tooLate = new Date(Date.now() - 25 * 3_600_000).toISOString()
  const late = await newNumber({ isNew: false })
  await change(late, { onboardedAt: tooLate })
  const lateId = await start(late, { accountId: late.accountId, numberId: late.numberId })
  assert.equal(codeOf(await call(w, 'POST', `/${lateId}/history`), 'history'), 'history_passed')
})

test('the URL is set for the number if the account has others, which keep theirs', async () => {
  const first = await newNumber()
  const second = await newNumber({ sharesAccountOf: first.numberId })
  const { accountId, numberId } = second
  const id = await start(second, { accountId })
  await call(w, 'PATCH', `/${id}`, { numberId })
  const done = await call(w, 'POST', `/${id}/subscribe`)
  assert.equal(codeOf(done, 'webhook'), 'subscribed')
  const { numbers } = (await s.call('GET', '/simulator/numbers')).body
  const urlOf = (wanted: Loose) => numbers.find((one: Loose) => one.numberId === wanted.numberId)
  assert.deepEqual([urlOf(first).callbackUrl, urlOf(second).callbackLevel], [null, 'phone_number'])
})

/** What goes wrong at the platform, and what the report says. */
const failures: [name: string, fields: object, codes: string[]][] = [
  ['a revoked token', { tokenState: 'revoked' }, ['token token_invalid']],
  ['a missing permission', { missingPermission: 'whatsapp_business_messaging' }, ['permissions permission_missing']],
  [
    'no permission to read the account',
    { missingPermission: 'whatsapp_business_management' },
    ['permissions permission_missing', 'account account_no_access', 'webhook platform_error'],
  ],
  ['a declined name', { nameStatus: 'DECLINED' }, ['display_name name_declined']],
  ['a number that was taken off', { registered: false, isOnPhone: false }, ['registration not_registered']],
  ['a restricted number', { standing: 'RESTRICTED' }, ['registration number_restricted']],
  ['no subscription', { subscribed: false }, ['webhook not_subscribed']],
  ['another app', { subscribed: false, hasOtherApp: true }, ['webhook other_app']],
  ['another address', { callbackUrl: 'https://other.example/hook' }, ['webhook other_callback']],
]

test('each failure of the platform is named, and gone once it is solved', async () => {
  const number = await newNumber({ isNew: false })
  const { accountId, numberId } = number
  const id = await start(number, { accountId, numberId })
  await call(w, 'POST', `/${id}/subscribe`)
  const { callbackUrl, ...right } = (await s.call('GET', '/simulator/numbers')).body.numbers.find(
    (one: Loose) => one.numberId === numberId,
  )
  for (const [name, fields, codes] of failures) {
    await change(number, fields)
    assert.deepEqual(open(await call(w, 'POST', `/${id}/check`)), codes, name)
    const back = Object.keys(fields).map((field) => [field, { ...right, callbackUrl }[field]])
    await change(number, Object.fromEntries(back))
    assert.deepEqual(open(await call(w, 'POST', `/${id}/check`)), [], `${name}, solved`)
  }
  for (const [fault, code] of [
    [{ effect: 'refuse', code: 80_007 }, 'token rate_limited'],
    [{ effect: 'reset' }, 'token unreachable'],
    [{ effect: 'html' }, 'token unreachable'],
  ] as const) {
    await s.call('POST', '/simulator/faults', { ...fault, on: 'setup' })
    assert.deepEqual(open(await call(w, 'POST', `/${id}/check`)), [code])
  }
  await call(w, 'PATCH', `/${id}`, { appSecret: 'the-secret-of-another-app' })
  assert.deepEqual(open(await call(w, 'POST', `/${id}/check`)), ['app_secret app_secret_wrong'])
})

test('a callback URL that the platform cannot call is refused, and the number stays in setup', async () => {
  const number = await newNumber()
  await change(number, { registered: true })
  const hidden = await channelWorld(baseUrl, 'http://127.0.0.1:9')
  const { accountId, numberId, accessToken, appSecret } = number
  const input = { channel: 'waba', name: 'Hidden', accessToken, appSecret, baseUrl }
  const { id } = (await call(hidden, 'POST', '', input)).connection
  await call(hidden, 'PATCH', `/${id}`, { accountId, numberId })
  const refused = await call(hidden, 'POST', `/${id}/subscribe`)
  assert.deepEqual([open(refused), codeOf(refused, 'callback')], [['webhook callback_refused'], 'callback_untested'])
  assert.equal(refused.connection.stateReason, 'setup')
})

test('a number that another workspace has reserved is refused when it is chosen', async () => {
  const number = await newNumber({ isNew: false })
  const { accountId, numberId } = number
  await start(number, { accountId, numberId })
  const other = await channelWorld(baseUrl)
  const { accessToken, appSecret } = number
  const made = await other.call('POST', '', { channel: 'waba', name: 'Mine', accessToken, appSecret, baseUrl })
  const { id } = made.json().connection
  const taken = await other.call('PATCH', `/${id}`, { accountId, numberId })
  assert.deepEqual([taken.statusCode, taken.json().data], [409, { field: 'numberId' }])
  // A number that was chosen while the platform did not respond is not diverted from its workspace either.
  await change(number, { tokenState: 'expired' })
  await call(other, 'PATCH', `/${id}`, { accountId, numberId })
  await change(number, { tokenState: 'valid' })
  const before = (await s.call('GET', '/simulator/numbers')).body
  const refused = await call(other, 'POST', `/${id}/subscribe`)
  assert.equal(codeOf(refused, 'number'), 'number_elsewhere')
  assert.deepEqual((await s.call('GET', '/simulator/numbers')).body, before)
})

test('checks are limited, for admins only, and of connections that exist', async () => {
  const id = await start(await newNumber())
  w.clock.advance(60_000)
  const codes: number[] = []
  for (let n = 0; n < 6; n++) codes.push((await w.call('POST', `/${id}/check`)).statusCode)
  assert.deepEqual(codes, [200, 200, 200, 200, 200, 429])
  const refused = await w.call('POST', `/${id}/check`)
  assert.deepEqual([refused.headers['retry-after'], refused.json().data], ['10', { retryAfterMs: 10_000 }])
  w.clock.advance(10_000)
  assert.equal((await w.call('POST', `/${id}/check`)).statusCode, 200)
  const nobody = '00000000-0000-4000-8000-000000000000'
  for (const [method, path, body] of [
    ['GET', 'check', undefined],
    ['POST', 'check', undefined],
    ['GET', 'numbers', undefined],
    ['POST', 'subscribe', undefined],
    ['POST', 'register', { pin: '123456' }],
    ['POST', 'history', undefined],
  ] as const) {
    assert.equal((await w.call(method, `/${nobody}/${path}`, body)).statusCode, 404, path)
    assert.equal((await w.call(method, `/${id}/${path}`, body, 'member')).statusCode, 403, path)
  }
  w.clock.advance(60_000)
  for (const pin of ['12345', '1234567', 'abcdef']) {
    assert.equal((await w.call('POST', `/${id}/register`, { pin })).statusCode, 400, pin)
  }
  await s.call('POST', '/simulator/faults', { effect: 'refuse', code: 80_007, on: 'setup', times: 2 })
  const listed = await w.call('GET', `/${id}/numbers`)
  assert.deepEqual([listed.statusCode, listed.json().data], [502, { code: '80007' }])
})
