import assert from 'node:assert/strict'
import { test } from 'node:test'
import { csrfTokenOf, originOf } from '../../../src/auth/sign-in/visitor.ts'
import { cookieOf, operatorToken, publicUrl, teamWorld } from '../../support/team-app.ts'

const { app, user } = await teamWorld()

const ana = await user()
const other = await user()
const own = { cookie: cookieOf(ana.sessionToken), origin: publicUrl, 'x-parley-csrf': csrfTokenOf(ana.sessionToken) }

const changes: [what: string, headers: Record<string, string | undefined>, status: number][] = [
  ['our page with the session’s token', own, 200],
  ['no token', { ...own, 'x-parley-csrf': undefined }, 403],
  ['the token of another session', { ...own, 'x-parley-csrf': csrfTokenOf(other.sessionToken) }, 403],
  ['a foreign Origin', { ...own, origin: 'https://evil.example' }, 403],
  ['a foreign Origin whose name begins like ours', { ...own, origin: `${publicUrl}.evil.example` }, 403],
  ['an opaque Origin', { ...own, origin: 'null' }, 403],
  ['neither Origin nor Sec-Fetch-Site', { ...own, origin: undefined }, 403],
  ['Sec-Fetch-Site cross-site, whatever the Origin', { ...own, 'sec-fetch-site': 'cross-site' }, 403],
  ['Sec-Fetch-Site same-site: a sister host is another site', { ...own, 'sec-fetch-site': 'same-site' }, 403],
  ['Sec-Fetch-Site same-origin without an Origin', { ...own, origin: undefined, 'sec-fetch-site': 'same-origin' }, 200],
]

for (const [what, headers, status] of changes) {
  test(`a change with a session and ${what}: ${status}`, async () => {
    const sent = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined))
    const answer = await app.inject({
      method: 'PATCH',
      url: '/api/team/v1/me',
      headers: sent as Record<string, string>,
      payload: { name: 'Ana' },
    })
    assert.equal(answer.statusCode, status)
  })
}

test('reading with a session needs no token', async () => {
  const answer = await app.inject({ url: '/api/team/v1/session', headers: { cookie: own.cookie } })
  assert.equal(answer.statusCode, 200)
})

test('a team token needs neither, because no browser sends it automatically', async () => {
  const answer = await app.inject({
    method: 'POST',
    url: '/api/team/v1/workspaces',
    headers: { authorization: `Bearer ${operatorToken}` },
    payload: { name: 'Acme' },
  })
  assert.equal(answer.statusCode, 201)
})

test('an Origin that matches the Host is our own, also at a second address of the server', () => {
  assert.equal(originOf({ origin: 'http://10.0.0.5:7007', host: '10.0.0.5:7007' }, publicUrl), 'own')
  assert.equal(originOf({ origin: 'http://10.0.0.5:7008', host: '10.0.0.5:7007' }, publicUrl), 'foreign')
  assert.equal(originOf({}, publicUrl), 'unsaid')
})
