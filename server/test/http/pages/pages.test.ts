import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cookieOf, teamWorld } from '../../support/team-app.ts'

const { app, user } = await teamWorld()

const open = (url: string, sessionToken?: string, headers: Record<string, string> = {}) =>
  app.inject({ url, headers: { ...headers, ...(sessionToken && { cookie: cookieOf(sessionToken) }) } })

test('the start page redirects to the sign-in without a session', async () => {
  const answer = await open('/')
  assert.deepEqual([answer.statusCode, answer.headers.location], [303, '/sign-in'])
})

for (const path of ['/sign-in', '/sign-in/unknown', '/invite/unknown'])
  test(`${path} is public, runs only our scripts, cannot be framed and sends no referrer`, async () => {
    const { statusCode, headers, body } = await open(path)
    assert.equal(statusCode, 200)
    const policy = String(headers['content-security-policy'])
    assert.match(policy, /default-src 'none'; script-src 'self';/)
    assert.match(policy, /frame-ancestors 'none'/)
    assert.doesNotMatch(policy, /unsafe/)
    assert.equal(headers['referrer-policy'], 'same-origin')
    // Without a session it preloads nothing that needs one.
    assert.match(body, /data-section="entry"/)
    assert.doesNotMatch(body, /\/api\/|https?:\/\//)
  })

test('a section without a workspace opens after the sign-in', async () => {
  const stranger = await open('/inbox')
  assert.deepEqual([stranger.statusCode, stranger.headers.location], [303, '/sign-in?next=%2Finbox'])
  const { sessionToken } = await user()
  const sections = 'home inbox leads connections forms webhooks keys settings profile choose-password'.split(' ')
  for (const section of ['', ...sections])
    assert.equal((await open(`/${section}`, sessionToken)).statusCode, 200, section)
  assert.equal((await open('/elsewhere', sessionToken)).statusCode, 404)
})

for (const [language, lang, heading] of [
  ['fr-FR,pt-PT;q=0.8,en;q=0.5', 'pt-BR', 'Página não encontrada'],
  ['en;q=0.4, es-MX', 'es', 'Página no encontrada'],
  ['', 'en', 'Page not found'],
  ['fr', 'en', 'Page not found'],
  ['*', 'en', 'Page not found'],
  ['pt;q=0', 'en', 'Page not found'],
  [';;,q=', 'en', 'Page not found'],
] as const)
  test(`a server page is in ${lang} for Accept-Language "${language}"`, async () => {
    const { body, statusCode } = await open('/elsewhere', undefined, {
      accept: 'text/html',
      'accept-language': language,
    })
    assert.equal(statusCode, 404)
    assert.match(body, new RegExp(`<html lang="${lang}">[\\s\\S]*<h1>${heading}</h1>`))
    assert.doesNotMatch(body, /<script/)
  })

test('only public lead forms accept form-encoded bodies', async () => {
  for (const url of ['/api/team/v1/sign-in', '/api/team/v1/invitations/accept']) {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const answer = await app.inject({ method: 'POST', url, headers, payload: 'email=a%40example.com' })
    assert.equal(answer.statusCode, 415, url)
  }
})
