import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cookieOf, password, sessionIn } from '../../support/team-app.ts'
import { attemptIn, person, ssoWorld } from './sso-world.ts'

const w = await ssoWorld()
const { configure, fake, app } = w

const post = (path: string, payload: object, headers: Record<string, string> = {}) =>
  app.inject({ method: 'POST', url: `/api/team/v1${path}`, payload, headers })

async function signedIn(email: string) {
  const answer = await post('/sign-in', { email, password })
  assert.equal(answer.statusCode, 200, answer.body)
  const csrf = String(answer.json().csrfToken)
  const headers = { cookie: cookieOf(sessionIn(answer) ?? ''), origin: w.config.http.publicUrl, 'x-parley-csrf': csrf }
  return { headers }
}

test('a link or a test that comes back after the sign-out, or as another person, changes nothing', async () => {
  const operator = await w.user({ isOperator: true })
  const { member } = await w.team()
  await configure()
  const begun = await signedIn(operator.email)
  const { headers: others } = await signedIn(member.email)
  fake.state.account = person().account
  const starts = {
    link: () => post('/me/identities', { providerId: w.providerId, password }, begun.headers),
    test: () => post(`/identity-providers/${w.providerId}/test`, {}, begun.headers),
  }
  const attempts = []
  for (const [what, start] of Object.entries(starts)) {
    const [first, second] = [await start(), await start()]
    assert.deepEqual([first.statusCode, second.statusCode], [200, 200], what)
    const stranger = await w.comeBack(await fake.visit(first.json().url), `${others.cookie}; ${attemptIn(first)}`)
    assert.equal(stranger.headers.location, '/sign-in?sso=expired', what)
    attempts.push({ what, url: await fake.visit(second.json().url), cookie: attemptIn(second) })
  }
  await w.db.sql`delete from sessions where user_id = ${operator.userId}`
  for (const { what, url, cookie } of attempts) {
    for (const session of [begun.headers.cookie, '']) {
      const late = await w.comeBack(url, [session, cookie].filter(Boolean).join('; '))
      assert.equal(late.headers.location, '/sign-in?sso=expired', what)
    }
  }
  const [linked] = await w.db.sql<{ count: number }[]>`
    select count(*)::integer as count
    from sso_identities
    where user_id in (${operator.userId}, ${member.userId})`
  assert.equal(linked?.count, 0)
  assert.equal((await w.call('GET', '')).body.providers[0].test, null)
})
