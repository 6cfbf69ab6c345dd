import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noRequests } from '../../../src/channels/check/adapter-steps.ts'
import { type CheckLine, checkCodes, checkLine, isComplete, orderLines } from '../../../src/channels/check/report.ts'
import { describeLine } from '../../../src/channels/check/texts.ts'
import { judgeAnswers, type WabaAnswers } from '../../../src/channels/waba/setup/examine.ts'
import type { GraphAnswer } from '../../../src/channels/waba/setup/graph-answer.ts'
import { wabaAt } from '../../support/channels/connections.ts'

const now = new Date('2026-03-01T12:00:00.000Z')
const seconds = (hours: number) => now.getTime() / 1000 + hours * 3600
const ownUrl = 'https://parley.example/channels/waba/1/webhook'
const elsewhere = 'https://other.example/hook'

const answer = (body: object): GraphAnswer => ({ ok: true, body: body as Record<string, unknown> })
const refused = (code: number | string, subcode: number | null = null): GraphAnswer => ({
  ok: false,
  errorCode: String(code),
  subcode,
})

const scopes = ['whatsapp_business_messaging', 'whatsapp_business_management']
const token = (more: object = {}) =>
  answer({
    data: {
      app_id: '1007',
      application: 'Shop app',
      type: 'SYSTEM_USER',
      is_valid: true,
      expires_at: 0,
      scopes,
      ...more,
    },
  })
const numberBody = {
  id: '106540352242922',
  display_phone_number: '+1 555 078 3881',
  verified_name: 'Shop',
  name_status: 'APPROVED',
  status: 'CONNECTED',
  code_verification_status: 'VERIFIED',
  platform_type: 'CLOUD_API',
  is_on_biz_app: false,
  webhook_configuration: { application: ownUrl },
}
const number = (more: object = {}) => answer({ ...numberBody, ...more })
const ownApp = { whatsapp_business_api_data: { id: '1007', name: 'Shop app' } }
const otherApp = { whatsapp_business_api_data: { id: '2008', name: 'Another app' } }
const apps = (...data: object[]) => answer({ data })

const good: WabaAnswers = {
  debug: token(),
  permissions: null,
  proof: answer({ id: '3009' }),
  account: answer({ id: '102290', name: 'Shop account' }),
  listed: answer({ data: [{ id: numberBody.id }] }),
  number: number(),
  apps: apps(ownApp),
}

const connection = { ...wabaAt('https://graph.facebook.com'), accountId: '102290' }
const context = { ownUrls: [ownUrl], history: noRequests, createdAt: now, now }

const judge = (answers: Partial<WabaAnswers>, of = connection, around: Partial<typeof context> = {}) =>
  judgeAnswers({ ...good, ...answers }, of, { ...context, ...around })

/** Returns what a step says: its status, its code and one of its values. */
const said = (lines: readonly CheckLine[], wanted: string): string => {
  const line = lines.find(({ step }) => step === wanted)
  return line === undefined ? 'nothing' : [line.status, line.code, ...Object.values(line.values)].join(' ')
}

const onPhone = { is_on_biz_app: true, last_onboarded_time: '2026-03-01T10:00:00+0000' }
const sent = (errorCode: string | null, at = '2026-03-01T11:00:00.000Z') => ({ at, errorCode })

const cases: [name: string, answers: Partial<WabaAnswers>, step: string, expected: string][] = [
  ['a permanent token', {}, 'token', 'ok token_permanent Shop app'],
  [
    'a token that ends in weeks',
    { debug: token({ expires_at: seconds(900), issued_at: seconds(-1) }) },
    'token',
    `warning token_expires ${new Date(seconds(900) * 1000).toISOString()} Shop app`,
  ],
  [
    'a token of a person for a day',
    { debug: token({ type: 'USER', expires_at: seconds(23), issued_at: seconds(-1) }) },
    'token',
    `warning token_temporary ${new Date(seconds(23) * 1000).toISOString()}`,
  ],
  [
    'a token of a person for 60 days',
    { debug: token({ type: 'USER', expires_at: seconds(1400), issued_at: seconds(-1) }) },
    'token',
    `warning token_expires ${new Date(seconds(1400) * 1000).toISOString()} Shop app`,
  ],
  ['a token that ended', { debug: token({ expires_at: seconds(-1) }) }, 'token', 'failed token_expired'],
  [
    'a token that is reported as expired',
    { debug: token({ is_valid: false, error: { code: 190, subcode: 463 } }) },
    'token',
    'failed token_expired',
  ],
  [
    'a token that is reported as revoked',
    { debug: token({ is_valid: false, error: { code: 190, subcode: 460 } }) },
    'token',
    'failed token_invalid',
  ],
  ['an expired token that is refused', { debug: refused(190, 463) }, 'token', 'failed token_expired'],
  ['an unknown token', { debug: refused(190) }, 'token', 'failed token_invalid'],
  [
    'a token that may not describe itself',
    {
      debug: refused(100),
      permissions: answer({ data: scopes.map((permission) => ({ permission, status: 'granted' })) }),
    },
    'token',
    'ok token_valid',
  ],
  ['too many calls', { debug: refused(4) }, 'token', 'failed rate_limited 4'],
  ['too many calls of the account', { account: refused(80007) }, 'account', 'failed rate_limited 80007'],
  ['no answer in time', { debug: refused('timeout') }, 'token', 'failed unreachable timeout'],
  ['an error of the platform', { debug: refused(1) }, 'token', 'failed platform_error 1'],
  ['an HTML page', { account: refused('http_502') }, 'account', 'failed unreachable http_502'],

  ['both permissions', {}, 'permissions', 'ok permissions_granted'],
  [
    'no management',
    { debug: token({ scopes: scopes.slice(0, 1) }) },
    'permissions',
    'failed permission_missing whatsapp_business_management',
  ],
  ['neither', { debug: token({ scopes: [] }) }, 'permissions', `failed permission_missing ${scopes.join(', ')}`],
  [
    'permissions by the other call',
    {
      debug: refused(100),
      permissions: answer({
        data: [
          { permission: scopes[0], status: 'granted' },
          { permission: scopes[1], status: 'declined' },
        ],
      }),
    },
    'permissions',
    'failed permission_missing whatsapp_business_management',
  ],

  ['the right secret', {}, 'app_secret', 'ok app_secret_matches'],
  ['a secret of another app', { proof: refused(100) }, 'app_secret', 'failed app_secret_wrong'],
  ['a secret that cannot be checked', { proof: refused('timeout') }, 'app_secret', 'skipped not_checked'],

  ['an account', {}, 'account', 'ok account_found Shop account'],
  ['an account of others', { account: refused(100, 33) }, 'account', 'failed account_no_access 102290'],
  ['an account without permission', { account: refused(200) }, 'account', 'failed account_no_access 102290'],

  ['a number', {}, 'number', 'ok number_found +1 555 078 3881 Shop'],
  ['a number of others', { number: refused(100, 33) }, 'number', 'failed number_no_access 106540352242922'],
  [
    'a number of another account',
    { listed: answer({ data: [{ id: '999' }] }) },
    'number',
    'failed number_other_account 106540352242922',
  ],
  [
    'a number that may be on a later page',
    { listed: answer({ data: [{ id: '999' }], paging: { next: 'https://…' } }) },
    'number',
    'ok number_found +1 555 078 3881 Shop',
  ],

  ['an approved name', {}, 'display_name', 'ok name_approved Shop'],
  [
    'a name in review',
    { number: number({ name_status: 'PENDING_REVIEW' }) },
    'display_name',
    'warning name_pending Shop',
  ],
  ['a declined name', { number: number({ name_status: 'DECLINED' }) }, 'display_name', 'failed name_declined Shop'],
  ['an expired name', { number: number({ name_status: 'EXPIRED' }) }, 'display_name', 'failed name_expired Shop'],
  [
    'a name status from the future',
    { number: number({ name_status: 'FROZEN' }) },
    'display_name',
    'skipped not_checked',
  ],

  ['a registered number', {}, 'registration', 'ok registered'],
  [
    'a registered number whose verification ended',
    { number: number({ code_verification_status: 'EXPIRED' }) },
    'registration',
    'ok registered',
  ],
  [
    'a number that is not registered',
    { number: number({ status: 'PENDING' }) },
    'registration',
    'failed not_registered',
  ],
  [
    'a number that is not verified',
    { number: number({ status: 'PENDING', code_verification_status: 'NOT_VERIFIED' }) },
    'registration',
    'failed number_unverified',
  ],
  ['a number on a phone', { number: number(onPhone) }, 'registration', 'ok registered_on_phone'],
  ['a flagged number', { number: number({ status: 'FLAGGED' }) }, 'registration', 'warning number_flagged FLAGGED'],
  ['a banned number', { number: number({ status: 'BANNED' }) }, 'registration', 'failed number_restricted BANNED'],

  ['the app subscribed at our URL', {}, 'webhook', 'ok subscribed'],
  ['no app', { apps: apps() }, 'webhook', 'failed not_subscribed'],
  ['only another app', { apps: apps(otherApp) }, 'webhook', 'failed other_app Another app'],
  ['another app beside ours', { apps: apps(otherApp, ownApp) }, 'webhook', 'ok subscribed'],
  [
    'our app at another URL',
    { number: number({ webhook_configuration: { application: elsewhere } }) },
    'webhook',
    'failed other_callback other.example',
  ],
  [
    'a number with a URL of its own',
    { number: number({ webhook_configuration: { application: ownUrl, phone_number: elsewhere } }) },
    'webhook',
    'failed other_callback other.example',
  ],
  [
    'an override to our URL',
    { number: number({ webhook_configuration: { application: elsewhere, whatsapp_business_account: ownUrl } }) },
    'webhook',
    'ok subscribed_override other.example',
  ],
  [
    'an override that only the app shows',
    { apps: apps({ ...ownApp, override_callback_uri: ownUrl }), number: number({ webhook_configuration: undefined }) },
    'webhook',
    'ok subscribed',
  ],
  [
    'a URL that is not reported',
    { number: number({ webhook_configuration: undefined }) },
    'webhook',
    'warning callback_unknown',
  ],
  ['apps that may not be read', { apps: refused(200) }, 'webhook', 'failed platform_error 200'],

  ['no phone', {}, 'history', 'skipped not_on_phone'],
  [
    'a number connected two hours ago',
    { number: number(onPhone) },
    'history',
    'warning history_open 2026-03-02T10:00:00.000Z',
  ],
  [
    'a number connected a day ago',
    { number: number({ ...onPhone, last_onboarded_time: '2026-02-28T12:00:00+0000' }) },
    'history',
    'warning history_passed',
  ],
]

test('each answer of the platform has its line', () => {
  for (const [name, answers, step, expected] of cases) assert.equal(said(judge(answers), step), expected, name)
})

test('without an account or a number, what depends on them is not checked', () => {
  const noAccount = judge({ account: null, listed: null, apps: null }, { ...connection, accountId: null as never })
  assert.deepEqual(
    ['account', 'number', 'webhook'].map((step) => said(noAccount, step)),
    ['failed account_not_chosen', 'ok number_found +1 555 078 3881 Shop', 'skipped not_checked'],
  )
  const noNumber = judge({ number: null }, { ...connection, numberId: connection.id })
  assert.deepEqual(
    ['number', 'registration', 'webhook', 'history'].map((step) => said(noNumber, step)),
    ['failed number_not_chosen', 'skipped not_checked', 'skipped not_checked', 'skipped not_checked'],
  )
})

test('contacts and history: once each, within 24 hours, and again after the number was connected again', () => {
  const said2 = (history: typeof noRequests | object, more: object = {}) =>
    said(
      judge({ number: number({ ...onPhone, ...more }) }, connection, { history: history as typeof noRequests }),
      'history',
    )
  const open = 'warning history_open 2026-03-02T10:00:00.000Z'
  assert.equal(said2({ contacts: sent(null), history: null }), open)
  assert.equal(said2({ contacts: sent(null), history: sent(null) }), 'ok history_requested')
  assert.equal(said2({ contacts: sent('2593107'), history: sent(null) }), 'ok history_requested')
  assert.equal(said2({ contacts: sent(null), history: sent('2593108') }), 'warning history_passed')
  assert.equal(said2({ contacts: sent(null), history: sent('131000') }), 'failed history_refused 131000')
  const before = sent(null, '2026-02-01T00:00:00.000Z')
  assert.equal(said2({ contacts: before, history: before }), open)
  assert.equal(said2(noRequests, { last_onboarded_time: 'yesterday' }), 'warning history_open 2026-03-02T12:00:00.000Z')
})

test('a setup is complete when every required step was checked and none failed', () => {
  const lines = [...judge({}), checkLine('callback', 'callback_answers')]
  assert.equal(isComplete(lines), true)
  assert.equal(isComplete([...judge({ proof: refused('timeout') }), checkLine('callback', 'callback_untested')]), true)
  assert.equal(
    isComplete([...judge({ number: number({ name_status: 'DECLINED' }) }), checkLine('callback', 'callback_answers')]),
    true,
  )
  for (const [name, answers] of [
    ['token', { debug: refused(190) }],
    ['secret', { proof: refused(100) }],
    ['registration', { number: number({ status: 'PENDING' }) }],
    ['webhook', { apps: apps() }],
  ] as const) {
    assert.equal(isComplete([...judge(answers), checkLine('callback', 'callback_answers')]), false, name)
  }
  assert.equal(isComplete(judge({})), false, 'callback not checked')
  const unknownUrl = judge({ number: number({ webhook_configuration: undefined }) })
  assert.equal(
    isComplete([...unknownUrl, checkLine('callback', 'callback_answers')]),
    false,
    'messages may go elsewhere',
  )
  assert.equal(
    isComplete([...lines, checkLine('webhook', 'callback_refused')]),
    false,
    'the last line of a step counts',
  )
  assert.deepEqual(
    orderLines([
      checkLine('sending', 'can_send'),
      checkLine('token', 'token_valid'),
      checkLine('token', 'token_expired'),
    ]).map(({ code }) => code),
    ['token_expired', 'can_send'],
  )
})

test('every code has words in English, and values are cut', () => {
  for (const code of checkCodes) {
    const { found, advice } = describeLine({ step: 'token', status: 'ok', code, values: { reason: 'paused' } }, 'waba')
    assert.ok(found !== '' || ['account_found', 'name_approved', 'number_found'].includes(code), code)
    assert.notEqual(advice, '', code)
  }
  assert.equal(checkLine('number', 'number_found', { name: 'x'.repeat(500) }).values.name?.length, 200)
})
