import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseSender, parseSmtpUrl } from '../../src/base/smtp-address.ts'
import { ConfigError, loadConfig } from '../../src/config.ts'

const credentials = { user: 'ana', password: 'p@ss word' }
const addresses: [url: string, address: unknown][] = [
  ['smtp://mail.example.com', { host: 'mail.example.com', port: 587, security: 'starttls', credentials: null }],
  [
    'smtp://ana:p%40ss%20word@mail.example.com:25',
    { host: 'mail.example.com', port: 25, security: 'starttls', credentials },
  ],
  ['smtps://mail.example.com', { host: 'mail.example.com', port: 465, security: 'tls', credentials: null }],
  ['smtp://localhost:1025', { host: 'localhost', port: 1025, security: 'off', credentials: null }],
  ['smtp://[::1]:1025/', { host: '::1', port: 1025, security: 'off', credentials: null }],
  ['smtp://127.0.0.9:25?tls=required', { host: '127.0.0.9', port: 25, security: 'starttls', credentials: null }],
  ['smtp://mail.internal:25?tls=off', { host: 'mail.internal', port: 25, security: 'off', credentials: null }],
]
for (const [url, address] of addresses) {
  test(`${url} is understood`, () => assert.deepEqual(parseSmtpUrl(url), address))
}

const mistakes: [url: string, problem: RegExp][] = [
  ['mail.example.com:587', /^must be smtp:/],
  ['https://mail.example.com', /^must be smtp:/],
  ['smtp://', /^must be smtp:/],
  ['smtp://mail.example.com/inbox', /without a path$/],
  ['smtp://secret-user@mail.example.com', /both a user and a password/],
  ['smtp://ana:100%@mail.example.com', /percent-encode/],
  ['smtp://mail.example.com?starttls=0', /only the parameter tls/],
  ['smtp://mail.example.com?tls=maybe', /tls=required or tls=off/],
  ['smtps://mail.example.com?tls=off', /begin with smtp:/],
]
for (const [url, problem] of mistakes) {
  test(`${url} is refused without repeating it`, () => {
    const message = parseSmtpUrl(url)
    assert.ok(typeof message === 'string')
    assert.match(message, problem)
    assert.ok(!message.includes('secret-user'))
  })
}

const senders: [text: string, sender: unknown][] = [
  ['parley@example.com', { name: '', address: 'parley@example.com' }],
  ['Parley of Acme <parley@example.com>', { name: 'Parley of Acme', address: 'parley@example.com' }],
  ['"Acme, Ltd." <parley@example.com>', { name: 'Acme, Ltd.', address: 'parley@example.com' }],
  ['Parley', null],
  ['Parley <parley>', null],
  ['a@example.com, b@example.com', null],
  ['Parley <parley@example.com', null],
  ['Par\nley <parley@example.com>', null],
]
for (const [text, sender] of senders) {
  test(`the sender ${JSON.stringify(text)} is ${sender === null ? 'refused' : 'understood'}`, () =>
    assert.deepEqual(parseSender(text), sender))
}

test('the start names what is missing or wrong, and no secret', () => {
  const problemsOf = (env: Record<string, string>): string[] => {
    try {
      loadConfig(env)
      return []
    } catch (error) {
      assert.ok(error instanceof ConfigError)
      return error.problems
    }
  }
  const url = 'smtp://ana:a-secret-word@mail.example.com'
  const from = 'parley@example.com'
  assert.deepEqual(problemsOf({}), [])
  assert.deepEqual(problemsOf({ PARLEY_SMTP_URL: url, PARLEY_MAIL_FROM: from }), [])
  const wrong = [
    problemsOf({ PARLEY_SMTP_URL: url }),
    problemsOf({ PARLEY_MAIL_FROM: from }),
    problemsOf({ PARLEY_SMTP_URL: `${url}/x`, PARLEY_MAIL_FROM: from }),
    problemsOf({ PARLEY_SMTP_URL: url, PARLEY_MAIL_FROM: 'nobody' }),
  ]
  assert.deepEqual(
    wrong.map((problems) => problems.map((problem) => /^PARLEY_\w+/.exec(problem)?.[0])),
    [['PARLEY_SMTP_URL'], ['PARLEY_MAIL_FROM'], ['PARLEY_SMTP_URL'], ['PARLEY_MAIL_FROM']],
  )
  assert.ok(!JSON.stringify(wrong).includes('a-secret-word'))
})
