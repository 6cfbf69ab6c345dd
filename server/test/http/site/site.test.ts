import assert from 'node:assert/strict'
import { test } from 'node:test'
import { csrfTokenOf } from '../../../src/access/sign-in/csrf.ts'
import { createSignInLink } from '../../../src/access/sign-in/sign-in-link.ts'
import { codeAt } from '../../../src/access/sign-in/totp.ts'
import { cookieOf, password, publicUrl, sessionIn, teamWorld } from '../../support/team-app.ts'

const { app, clock, user, team, send, db } = await teamWorld()

const open = (url: string, sessionToken?: string) =>
  app.inject({ url, headers: sessionToken === undefined ? {} : { cookie: cookieOf(sessionToken) } })

function submit(url: string, fields: Record<string, string>, headers: Record<string, string> = { origin: publicUrl }) {
  return app.inject({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    payload: new URLSearchParams(fields).toString(),
  })
}

async function linkPath(userId: string): Promise<string> {
  const { url } = await db.tx((tx) => createSignInLink(tx, publicUrl, userId, clock.now()))
  return new URL(url).pathname
}

test('opening a sign-in link any number of times does not use it up; its button does', async () => {
  const path = await linkPath((await user()).userId)
  for (let look = 0; look < 3; look++) assert.equal((await open(path)).statusCode, 200)
  const answer = await submit(path, {})
  assert.equal(answer.statusCode, 303)
  assert.equal(answer.headers.location, '/choose-password')
  assert.equal((await open('/choose-password', sessionIn(answer))).headers.location, '/')
  assert.equal((await open('/', sessionIn(answer))).statusCode, 200)
  assert.equal((await open(path)).statusCode, 404)
  assert.equal((await submit(path, {})).statusCode, 401)
})

test('who comes by a link and has no password is asked for one, at each link until they choose one', async () => {
  const { userId, email } = await user()
  await db.tx((tx) => tx`update users set password_hash = null where id = ${userId}`)
  const arrive = async () => sessionIn(await submit(await linkPath(userId), {})) ?? ''
  const [first, second] = [await arrive(), await arrive()]
  for (const session of [first, second]) {
    const { statusCode, body } = await open('/choose-password', session)
    assert.equal(statusCode, 200)
    assert.match(body, /<a href="\/">Later<\/a>/)
    assert.match(body, new RegExp(`name="username" type="email" value="${email}" autocomplete="username" readonly`))
    // Later is now as well.
    assert.equal((await open('/', session)).statusCode, 200)
  }
  const choose = (words: string, csrf = csrfTokenOf(second)) =>
    submit('/choose-password', { password: words, csrf }, { origin: publicUrl, cookie: cookieOf(second) })
  assert.equal((await choose(password, 'made up')).statusCode, 403)
  const short = await choose('too short')
  assert.deepEqual([short.statusCode, short.body.includes('needs at least 12 characters')], [400, true])
  const chosen = await choose(password)
  assert.deepEqual([chosen.statusCode, chosen.headers.location], [303, '/'])
  // A new password ends what was open before it.
  assert.equal((await open('/', first)).headers.location, '/sign-in')
  assert.equal((await open('/', sessionIn(chosen))).statusCode, 200)
  assert.equal((await open('/choose-password', sessionIn(chosen))).headers.location, '/')
  assert.equal((await submit('/sign-in', { email, password })).statusCode, 303)
})

test('pages load nothing, run nothing, are framed by nobody and keep their address to themselves', async () => {
  for (const path of ['/sign-in', await linkPath((await user()).userId), '/invite/unknown']) {
    const { headers, body } = await open(path)
    const policy = String(headers['content-security-policy'])
    assert.match(policy, /default-src 'none'/)
    assert.match(policy, /frame-ancestors 'none'/)
    assert.doesNotMatch(policy, /unsafe|script-src/)
    assert.doesNotMatch(body, /<script|https?:\/\//)
    assert.equal(headers['referrer-policy'], 'same-origin')
    assert.equal(headers['cache-control'], 'no-store')
  }
})

test('a stranger at the front door is sent to sign in', async () => {
  const answer = await open('/')
  assert.equal(answer.statusCode, 303)
  assert.equal(answer.headers.location, '/sign-in')
})

test('the form signs in, and says above it what was wrong', async () => {
  const { email } = await user()
  const wrong = await submit('/sign-in', { email, password: 'wrong' })
  assert.equal(wrong.statusCode, 401)
  assert.match(wrong.body, /Wrong e-mail or password/)
  assert.ok(wrong.body.includes(`value="${email}"`))
  assert.equal(wrong.headers['www-authenticate'], undefined)
  const right = await submit('/sign-in', { email, password })
  assert.equal(right.statusCode, 303)
  assert.equal((await open('/', sessionIn(right))).statusCode, 200)
})

test('the form asks for a code when the account does', async () => {
  const me = await user()
  const { secret } = (await send(me, 'POST', '/me/totp', { password })).json()
  await send(me, 'POST', '/me/totp/confirm', { code: codeAt(secret, clock.now()) })
  clock.advance(30_000)
  const second = await submit('/sign-in', { email: me.email, password })
  assert.equal(second.statusCode, 200)
  const challenge = /name="challenge" value="([^"]+)"/.exec(second.body)?.[1] ?? ''
  assert.equal((await submit('/sign-in/code', { challenge, code: '000000' })).statusCode, 401)
  const done = await submit('/sign-in/code', { challenge, code: codeAt(secret, clock.now()) })
  assert.equal(done.statusCode, 303)
  assert.equal((await open('/', sessionIn(done))).statusCode, 200)
})

test('forms from other sites are refused', async () => {
  const { email, userId } = await user()
  const foreign = { origin: 'https://evil.example' }
  assert.equal((await submit('/sign-in', { email, password }, foreign)).statusCode, 403)
  assert.equal((await submit(await linkPath(userId), {}, foreign)).statusCode, 403)
})

test('after signing in one goes only to places of ours', async () => {
  const { email } = await user()
  for (const [next, place] of [
    ['/invite/abc_DEF-1', '/invite/abc_DEF-1'],
    ['https://evil.example', '/'],
    ['//evil.example', '/'],
    ['/invite/../../x', '/'],
    [
      '/w/01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e/inbox?view=mine',
      '/w/01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e/inbox?view=mine',
    ],
    ['/w/01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e\\@evil.example', '/'],
    ['/invite/a\r\nset-cookie: x', '/'],
    ['/inbox', '/inbox'],
    ['/leads?status=won', '/leads?status=won'],
    ['/inbox@evil.example', '/'],
    ['/inbox/../f/x', '/'],
  ]) {
    const answer = await submit('/sign-in', { email, password, next: next ?? '' })
    assert.equal(answer.headers.location, place)
  }
})

test('a room typed without a workspace is the app’s, after signing in', async () => {
  const stranger = await open('/inbox')
  assert.equal(stranger.statusCode, 303)
  assert.equal(stranger.headers.location, '/sign-in?next=%2Finbox')
  const { email } = await user()
  const cookie = sessionIn(await submit('/sign-in', { email, password }))
  for (const room of 'home inbox leads connections forms webhooks keys settings profile'.split(' ')) {
    assert.equal((await open(`/${room}`, cookie)).statusCode, 200, room)
  }
  assert.equal((await open('/elsewhere', cookie)).statusCode, 404)
})

const wrongForms: [form: string, fields: Record<string, string>, language: string, wrong: Record<string, string>][] = [
  [
    '/sign-in',
    { email: '', password: '' },
    'en',
    { email: 'Enter your e-mail address.', password: 'Enter your password.' },
  ],
  ['/sign-in', { email: 'ana@example.com', password: '' }, 'pt', { password: 'Digite a sua senha.' }],
  ['/sign-in/code', { challenge: 'any', code: ' ' }, 'es', { code: 'Escribe el código.' }],
  [
    'invitation',
    { name: ' ', password: 'short' },
    'en',
    { name: 'Your name needs 1 to 100 characters.', password: 'The password needs at least 12 characters.' },
  ],
  ['invitation', { name: '\u200b', password }, 'en', { name: 'Your name needs 1 to 100 characters.' }],
  [
    'invitation',
    { name: 'Bo', password: 'x'.repeat(257) },
    'es',
    { password: 'La contraseña tiene más de 256 caracteres.' },
  ],
]

for (const [form, fields, language, wrong] of wrongForms)
  test(`${form} says beside ${Object.keys(wrong).join(' and ')} what is wrong, in ${language}, and leads to the first`, async () => {
    let path = form
    if (form === 'invitation') {
      const { workspaceId, owner } = await team()
      const body = { email: 'bo@example.com', role: 'member' }
      path = new URL((await send(owner, 'POST', `/workspaces/${workspaceId}/invitations`, body)).json().url).pathname
    }
    const { statusCode, body } = await submit(path, fields, { origin: publicUrl, 'accept-language': language })
    assert.equal(statusCode, 400)
    // A browser's own check would put a bubble over the help.
    assert.match(body, /<form method="post" novalidate /)
    assert.doesNotMatch(body, / required| minlength/)
    for (const [n, [name, sentence]] of Object.entries(wrong).entries()) {
      const [input = ''] = new RegExp(`<input id="${name}"[^>]*>`).exec(body) ?? []
      assert.match(input, new RegExp(`aria-invalid="true" aria-describedby="${name}-problem( ${name}-help)?"`))
      assert.equal(/ autofocus/.test(input), n === 0, name)
      assert.ok(body.includes(`id="${name}-problem">${sentence}<`), sentence)
    }
  })

test('an invitation’s page takes a name and a password, and explains what is missing', async () => {
  const { workspaceId, owner } = await team()
  const body = { email: 'bo<b>@example.com', role: 'admin' }
  const { url } = (await send(owner, 'POST', `/workspaces/${workspaceId}/invitations`, body)).json()
  const path = new URL(url).pathname
  const shown = await open(path)
  assert.equal(shown.statusCode, 200)
  assert.match(shown.body, /Join Acme/)
  assert.ok(shown.body.includes('bo&#60;b&#62;@example.com'))
  const short = await submit(path, { name: 'Bo "Chen"', password: 'short' })
  assert.equal(short.statusCode, 400)
  assert.match(short.body, /The password needs at least 12 characters/)
  assert.ok(short.body.includes('value="Bo &#34;Chen&#34;"'))
  const joined = await submit(path, { name: 'Bo Chen', password })
  assert.equal(joined.statusCode, 303)
  const home = await open('/', sessionIn(joined))
  assert.equal(home.statusCode, 200)
  assert.equal((await open(path)).statusCode, 404)
})

test('a signed-in user joins with one button, which needs the session’s token', async () => {
  const { workspaceId, owner } = await team()
  const body = { email: 'someone@example.com', role: 'member' }
  const { url } = (await send(owner, 'POST', `/workspaces/${workspaceId}/invitations`, body)).json()
  const path = new URL(url).pathname
  const me = await user()
  const headers = { origin: publicUrl, cookie: cookieOf(me.sessionToken) }
  assert.match((await open(path, me.sessionToken)).body, /You are signed in as Ana Lima/)
  const pages = await Promise.all(
    ['/sign-in', path].map((url) => app.inject({ url, headers: { ...headers, 'accept-encoding': 'gzip' } })),
  )
  // The inviter chose what stands beside the token: compressed, the page's length would tell it.
  assert.deepEqual(
    pages.map((page) => [page.headers['content-encoding'], page.body.includes(csrfTokenOf(me.sessionToken))]),
    [
      ['gzip', false],
      [undefined, true],
    ],
  )
  assert.equal((await submit(path, {}, headers)).statusCode, 403)
  assert.equal((await submit(path, { csrf: csrfTokenOf(me.sessionToken) }, headers)).statusCode, 303)
  assert.equal((await send(me, 'GET', `/workspaces/${workspaceId}`)).statusCode, 200)
})

test('signing out by the button needs the session’s token and ends the session', async () => {
  const me = await user()
  const headers = { origin: publicUrl, cookie: cookieOf(me.sessionToken) }
  assert.equal((await submit('/sign-out', { csrf: 'x' }, headers)).statusCode, 403)
  assert.equal((await submit('/sign-out', { csrf: csrfTokenOf(me.sessionToken) }, headers)).statusCode, 303)
  assert.equal((await open('/', me.sessionToken)).statusCode, 303)
})

test('the JSON interfaces read no forms', async () => {
  assert.equal((await submit('/api/team/v1/sign-in', { email: 'a@example.com', password })).statusCode, 415)
})

test('the pages speak the language that the browser asks for, and English otherwise', async () => {
  const shown = async (language: string) =>
    (await app.inject({ url: '/sign-in', headers: { 'accept-language': language } })).body
  assert.match(await shown('fr-FR,pt-PT;q=0.8,en;q=0.5'), /<html lang="pt-BR">[\s\S]*<h1>Entrar<\/h1>/)
  assert.match(await shown('en;q=0.4, es-MX'), /<html lang="es">[\s\S]*¿Olvidaste la contraseña\?/)
  for (const language of ['', 'fr', '*', 'pt;q=0', ';;,q=']) assert.match(await shown(language), /<h1>Sign in<\/h1>/)
})

test('a refusal is told in the language of the page', async () => {
  const wrong = { email: 'nobody@example.com', password: 'wrong' }
  const answer = await submit('/sign-in', wrong, { origin: publicUrl, 'accept-language': 'es' })
  assert.equal(answer.statusCode, 401)
  assert.match(answer.body, /Correo o contraseña incorrectos/)
})
