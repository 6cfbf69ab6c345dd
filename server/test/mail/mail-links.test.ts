import assert from 'node:assert/strict'
import { test } from 'node:test'
import { codeAt } from '../../src/auth/sign-in/second-factor.ts'
import { findUser } from '../../src/auth/users/users.ts'
import { sessionIn, teamWorld } from '../support/team-app.ts'
import { testTeamToken } from '../support/world.ts'
import { linkIn, mailWorld, smtpError } from './mail-world.ts'

const w = await mailWorld()
const { app, clock, db, server, sendDue } = w
// Its own service has no mail server.
const { app: appWithoutMail, user, send } = await teamWorld()
const path = '/api/team/v1'

const ask = (email: string, fields: object = {}, on = app) =>
  on.inject({
    method: 'POST',
    url: `${path}/sign-in/mail`,
    payload: { email, purpose: 'sign-in', language: 'en', ...fields },
  })
const use = (link: string) =>
  app.inject({ method: 'POST', url: `${path}/sign-in/link`, payload: { token: new URL(link).pathname.split('/')[2] } })

async function mailed() {
  await sendDue()
  return server.take()
}

test('a mailed link signs in once, within 15 minutes', async () => {
  const { userId, email } = await user()
  assert.equal((await ask(email)).statusCode, 200)
  const [mail, ...more] = await mailed()
  assert.equal(more.length, 0)
  assert.equal(mail?.subject, 'Your sign-in link for Parley')
  const link = linkIn(mail)
  const signedIn = await use(link)
  assert.equal(signedIn.statusCode, 200)
  const session = await send({ userId, email, sessionToken: sessionIn(signedIn) ?? '' }, 'GET', '/session')
  assert.equal(session.json().user.id, userId)
  assert.equal((await use(link)).statusCode, 401, 'once')
  await ask(email)
  const late = linkIn((await mailed())[0])
  clock.advance(15 * 60_000)
  assert.equal((await use(late)).statusCode, 401, 'for 15 minutes')
})

test('the answer does not tell whether an address has an account', async () => {
  const { email } = await user()
  const [known, unknown] = [await ask(email), await ask('nobody@example.com')]
  assert.deepEqual([known.statusCode, known.json()], [unknown.statusCode, unknown.json()])
  const mails = await mailed()
  assert.deepEqual(
    mails.map(({ to }) => JSON.stringify(to).includes(email)),
    [true],
  )
  assert.equal((await db.sql`select from mails where next_at is not null`).length, 0)
})

test('requests for one address are delayed, whether or not it has an account', async () => {
  const { email } = await user()
  const statusesOf = async (address: string) => {
    const statuses = []
    for (let n = 0; n < 6; n++) statuses.push((await ask(address)).statusCode)
    return statuses
  }
  const known = await statusesOf(email)
  assert.deepEqual(known, await statusesOf('stranger@example.com'))
  assert.ok(known.includes(429) && known[0] === 200)
  assert.ok((await mailed()).length <= 3)
  clock.advance(3_600_000)
  assert.equal((await ask(email)).statusCode, 200)
  await mailed()
  const signIn = { email, password: 'four plain words together' }
  const answer = await app.inject({ method: 'POST', url: `${path}/sign-in`, payload: signIn })
  assert.equal(answer.statusCode, 200, 'the password still works')
})

test('a second factor is still required', async () => {
  const me = await user()
  const { secret } = (await send(me, 'POST', '/me/totp', { password: 'four plain words together' })).json()
  const code = codeAt(secret, clock.now())
  assert.equal((await send(me, 'POST', '/me/totp/confirm', { code })).statusCode, 200)
  await ask(me.email)
  const answer = await use(linkIn((await mailed())[0]))
  assert.equal(answer.json().step, 'totp')
  assert.equal(sessionIn(answer), undefined)
  clock.advance(30_000)
  const payload = { challenge: answer.json().challenge, code: codeAt(secret, clock.now()) }
  const done = await app.inject({ method: 'POST', url: `${path}/sign-in/totp`, payload })
  assert.equal(done.json().step, 'done')
})

test('a reset sets a new password, ends other sessions and voids the other links', async () => {
  const me = await user()
  await ask(me.email, { purpose: 'reset', language: 'pt' })
  await ask(me.email)
  const mails = await mailed()
  const reset = mails.find(({ subject }) => subject?.startsWith('Escolha uma nova senha'))
  assert.match(linkIn(reset), /\/sign-in\/[\w-]{43}\?reset$/)
  const byLink = { ...me, sessionToken: sessionIn(await use(linkIn(reset))) ?? '' }
  assert.equal((await send(byLink, 'PATCH', '/me', { password: 'a wholly new pass phrase' })).statusCode, 200)
  assert.equal((await send(me, 'GET', '/session')).statusCode, 401)
  const other = mails.find((mail) => mail !== reset)
  assert.equal((await use(linkIn(other))).statusCode, 401)
})

test('mail is in the language that the person uses', async () => {
  const me = await user()
  assert.equal((await send(me, 'PATCH', '/me', { language: 'es' })).statusCode, 200)
  assert.equal((await send(me, 'GET', '/session')).json().user.language, 'es')
  await ask(me.email, { language: 'en' })
  assert.equal((await mailed())[0]?.subject, 'Tu enlace para entrar en Parley')
  assert.equal((await findUser(db.sql, me.userId))?.language, 'es')
})

test('without a mail server nothing is promised', async () => {
  const methods = async (on: typeof app) => (await on.inject({ url: `${path}/sign-in/methods` })).json()
  assert.deepEqual([await methods(app), await methods(appWithoutMail)], [{ mail: true }, { mail: false }])
  const answer = await ask('ana@example.com', {}, appWithoutMail)
  assert.equal(answer.statusCode, 409)
  assert.match(answer.json().statusMessage, /PARLEY_SMTP_URL/)
})

test('a request from another site, or with an unknown purpose, is refused', async () => {
  const headers = { origin: 'https://evil.example' }
  const payload = { email: 'ana@example.com', purpose: 'sign-in', language: 'en' }
  const foreign = await app.inject({ method: 'POST', url: `${path}/sign-in/mail`, headers, payload })
  assert.equal(foreign.statusCode, 403)
  assert.equal((await ask('ana@example.com', { purpose: 'join' })).statusCode, 400)
  assert.equal((await ask('ana@example.com', { language: 'fr' })).statusCode, 400)
})

test('an operator sends a test mail at once and sees the words of the server', async () => {
  const sendTest = (on = app) =>
    on.inject({
      method: 'POST',
      url: `${path}/mail/test`,
      headers: { authorization: `Bearer ${testTeamToken}` },
      payload: { email: 'ops@example.com', language: 'es' },
    })
  const sent = await sendTest()
  assert.equal(sent.statusCode, 200)
  assert.match(sent.json().answer, /^250/)
  assert.equal(server.take()[0]?.subject, 'Correo de prueba de Parley')
  server.control.respond = async (step) => (step === 'recipient' ? smtpError(550, 'No relaying') : null)
  const refused = await sendTest()
  server.control.respond = async () => null
  assert.equal(refused.statusCode, 422)
  assert.match(refused.json().statusMessage, /550 No relaying/)
  assert.equal((await sendTest(appWithoutMail)).statusCode, 409)
})
