import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { classifyFailure } from '../../src/mail/mailer.ts'
import { atEnd } from '../support/file-lifecycle.ts'
import { makeAuthority } from '../support/outgoing/make-certificate.ts'
import { mailerFor, smtpError, startMailServer } from './mail-world.ts'

const mail = (to = 'bo@example.com') => ({
  id: randomUUID(),
  createdAt: new Date('2026-03-10T12:00:00Z'),
  to,
  subject: 'Hello',
  text: 'Hello Bo',
  html: '<p>Hello Bo</p>',
  unsubscribeUrl: null,
})

test('a mail has a stable Message-ID, both parts, and says that it is automatic', async () => {
  const server = await startMailServer()
  const mailer = mailerFor(server.url)
  const one = { ...mail(), unsubscribeUrl: 'https://parley.example.com/unsubscribe?token=x' }
  assert.equal((await mailer.send(one)).outcome, 'sent')
  assert.equal((await mailer.send(one)).outcome, 'sent')
  const [first, again] = server.take()
  assert.equal(first?.messageId, `<${one.id}@example.com>`)
  assert.equal(again?.messageId, first?.messageId)
  assert.deepEqual([first?.date, first?.text?.trim(), first?.html], [one.createdAt, one.text, one.html])
  assert.equal(first?.headers.get('auto-submitted'), 'auto-generated')
  assert.partialDeepStrictEqual(first?.headers.get('list'), { unsubscribe: { url: one.unsubscribeUrl } })
  await mailer.send(mail())
  const oneClicks = [first, server.take()[0]].map(
    (received) => received?.headerLines.find(({ key }) => key === 'list-unsubscribe-post')?.line,
  )
  assert.deepEqual(oneClicks, ['List-Unsubscribe-Post: List-Unsubscribe=One-Click', undefined])
})

test('STARTTLS is required: nothing is sent, and no password, to a server without it', async () => {
  let tried = 0
  const server = await startMailServer({
    onAuth: (_auth, _session, callback) => {
      tried++
      callback(null, { user: 'ana' })
    },
  })
  const { outcome } = await mailerFor(`smtp://ana:secret@127.0.0.1:${server.port}?tls=required`).send(mail())
  assert.deepEqual([outcome, tried, server.received.length], ['unreachable', 0, 0])
})

test('certificates are checked, with STARTTLS and with TLS from the start', async () => {
  const authority = makeAuthority()
  const certificate = authority.certify(['localhost', '127.0.0.1'])
  const starttls = await startMailServer({ ...certificate, hideSTARTTLS: false })
  const tls = await startMailServer({ ...certificate, secure: true })
  const urls = [`smtp://127.0.0.1:${starttls.port}?tls=required`, `smtps://127.0.0.1:${tls.port}`]
  for (const url of urls) assert.equal((await mailerFor(url).send(mail())).outcome, 'unreachable', url)
  const before = getCACertificates('default')
  atEnd(async () => setDefaultCACertificates(before))
  setDefaultCACertificates([...before, authority.cert])
  for (const url of urls) assert.equal((await mailerFor(url).send(mail())).outcome, 'sent', url)
  assert.deepEqual([starttls.received.length, tls.received.length], [1, 1])
})

test('credentials are used; refused ones concern every mail and end none', async () => {
  const server = await startMailServer({
    authOptional: false,
    onAuth: ({ username, password }, _session, callback) =>
      username === 'ana' && password === 'p@ss' ? callback(null, { user: 'ana' }) : callback(smtpError(535, 'No')),
  })
  assert.equal((await mailerFor(`smtp://ana:p%40ss@127.0.0.1:${server.port}`).send(mail())).outcome, 'sent')
  const wrong = await mailerFor(`smtp://ana:wrong@127.0.0.1:${server.port}`).send(mail())
  assert.deepEqual([wrong.outcome, wrong.code], ['unreachable', '535'])
})

const refusals: [step: 'connect' | 'recipient' | 'data', status: number, outcome: string][] = [
  ['recipient', 550, 'refused'],
  ['recipient', 451, 'deferred'],
  ['recipient', 421, 'unreachable'],
  ['data', 554, 'refused'],
  ['data', 452, 'deferred'],
  ['connect', 421, 'unreachable'],
  ['connect', 554, 'unreachable'],
]
for (const [step, status, outcome] of refusals) {
  test(`${status} at the step ${step}: ${outcome}`, async () => {
    const server = await startMailServer()
    server.control.respond = async (at) => (at === step ? smtpError(status, 'Because of the mailbox') : null)
    const result = await mailerFor(server.url).send(mail())
    assert.deepEqual([result.outcome, result.code], [outcome, String(status)])
    assert.match(result.answer, /Because of the mailbox/)
  })
}

test('a refused sender is a matter of the settings, and the mails wait for them', () => {
  const error = { code: 'EENVELOPE', responseCode: 553, command: 'MAIL FROM', response: '553 Not yours' }
  assert.deepEqual(classifyFailure(error), { outcome: 'deferred', answer: '553 Not yours', code: '553' })
})

test('the words of a server are one short line', () => {
  const response = `550 ${'x'.repeat(400)}\r\nBcc: all@example.com`
  const { answer } = classifyFailure({ code: 'EMESSAGE', responseCode: 550, command: 'DATA', response })
  assert.equal(answer.length, 300)
  assert.ok(!/[\r\n]/.test(classifyFailure({ code: 'EMESSAGE', responseCode: 550, response: 'a\r\nb' }).answer))
})

test('a server that is not there, or hangs up, is unreachable', async () => {
  const server = await startMailServer()
  await server.close()
  assert.equal((await mailerFor(server.url).send(mail())).outcome, 'unreachable')
  const rude = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
  atEnd(async () => rude.close())
  await new Promise((resolve) => rude.once('listening', resolve))
  const { port } = rude.address() as { port: number }
  assert.equal((await mailerFor(`smtp://127.0.0.1:${port}`).send(mail())).outcome, 'unreachable')
})

test('a malformed address is refused before anything is sent', async () => {
  const server = await startMailServer()
  for (const to of ['bo@example.com>\r\nRCPT TO:<eve@example.com', 'bo@example.com,eve', 'Bo <bo@example.com>']) {
    assert.equal((await mailerFor(server.url).send(mail(to))).outcome, 'refused', to)
  }
  assert.deepEqual(server.received, [])
})
