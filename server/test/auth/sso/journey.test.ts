import assert from 'node:assert/strict'
import { test } from 'node:test'
import { codeAt } from '../../../src/auth/sign-in/second-factor.ts'
import { follow } from '../../support/events/feed-world.ts'
import { cookieOf, password, sessionIn } from '../../support/team-app.ts'
import { attemptIn, person, ssoWorld } from './sso-world.ts'

const w = await ssoWorld()
const { configure, signIn, sessionOf, fake, app } = w

const post = (path: string, payload: object, headers: Record<string, string> = {}) =>
  app.inject({ method: 'POST', url: `/api/team/v1${path}`, payload, headers })

/** Signs in with the password on the node whose sessions are of the present. */
async function signedIn(email: string) {
  const answer = await post('/sign-in', { email, password })
  assert.equal(answer.statusCode, 200, answer.body)
  const headers = {
    cookie: cookieOf(sessionIn(answer) ?? ''),
    origin: w.config.http.publicUrl,
    'x-parley-csrf': String(answer.json().csrfToken),
  }
  return { headers, session: sessionIn(answer) }
}

test('a person of a mapped group gets an account at the first sign-in, with its role', async () => {
  const { workspaceId } = await w.team()
  await configure({ access: [{ group: 'sales', workspaceId, role: 'admin' }] })
  const { account } = person({ groups: ['sales', 'other'] })
  const { to, session } = await signIn(account, '/w/some/inbox?status=open')
  assert.equal(to, '/w/some/inbox?status=open')
  const { user, workspaces } = await sessionOf(session)
  assert.equal(user.email, account.email)
  assert.equal(user.name, 'Bea Reis')
  assert.equal(user.hasPassword, false)
  assert.deepEqual(
    workspaces.map(({ id, role }: { id: string; role: string }) => [id, role]),
    [[workspaceId, 'admin']],
  )
  const again = await sessionOf((await signIn(account)).session)
  assert.equal(again.user.id, user.id, 'the second sign-in finds the account')
  const sessions = await app.inject({ url: '/api/team/v1/sessions', headers: { cookie: cookieOf(session ?? '') } })
  assert.equal(sessions.json().sessions[0].signedInBy, 'sso')
})

test('the same address at another subject is another person: it neither gets the account nor its sessions', async () => {
  const { workspaceId } = await w.team()
  const { account, domain } = person()
  await configure({ domains: [domain], linksByEmail: true, access: [{ group: null, workspaceId, role: 'member' }] })
  assert.ok((await signIn(account)).session)
  const { to, session } = await signIn({ ...account, sub: `${account.sub}-later` })
  assert.equal(to, '/sign-in?sso=taken')
  assert.equal(session, undefined)
})

test('an account is linked by its address only if it is verified, of an allowed domain, and no operator', async () => {
  const { workspaceId } = await w.team()
  const rows: [what: string, claims: object, trusts: boolean, isOperator: boolean, to: string][] = [
    ['verified', {}, true, false, '/'],
    ['not verified', { email_verified: false }, true, false, '/sign-in?sso=unverified'],
    ['not said', { email_verified: undefined }, true, false, '/sign-in?sso=unverified'],
    ['a text', { email_verified: 'false' }, true, false, '/sign-in?sso=unverified'],
    ['not allowed', {}, false, false, '/sign-in?sso=unverified'],
    ['an operator', {}, true, true, '/sign-in?sso=unverified'],
  ]
  for (const [what, claims, linksByEmail, isOperator, to] of rows) {
    const { account, domain } = person(claims as Record<string, unknown>)
    await configure({ domains: [domain], linksByEmail, access: [{ group: null, workspaceId, role: 'member' }] })
    const { userId } = await w.user({ email: account.email, isOperator })
    const found = await signIn(account)
    assert.equal(found.to, to, what)
    assert.equal((await sessionOf(found.session))?.user.id, to === '/' ? userId : undefined, what)
  }
})

test('a person links the account signed in with the password, and signs in with the provider afterwards', async () => {
  const { owner, admin } = await w.team()
  await configure()
  const { account } = person()
  const { headers } = await signedIn(owner.email)
  const { headers: others } = await signedIn(admin.email)
  const link = (proof: object) => post('/me/identities', { providerId: w.providerId, ...proof }, headers)
  assert.equal((await link({ password: 'not the password' })).statusCode, 400, 'a session alone is not enough')
  const begun = await link({ password })
  assert.equal(begun.statusCode, 200, begun.body)
  fake.state.account = account
  const back = await fake.visit(begun.json().url)
  const stranger = await w.comeBack(back, `${others.cookie}; ${attemptIn(begun)}`)
  assert.equal(stranger.headers.location, '/sign-in?sso=expired', 'a link belongs to the session that began it')
  const second = await link({ password })
  const done = await w.comeBack(await fake.visit(second.json().url), `${headers.cookie}; ${attemptIn(second)}`)
  assert.equal(done.headers.location, '/profile')
  assert.equal((await sessionOf((await signIn(account)).session)).user.id, owner.userId)
  const listed = await app.inject({ url: '/api/team/v1/me/identities', headers })
  assert.equal(listed.json().identities[0].providerId, w.providerId)
  const unlinked = await app.inject({ method: 'DELETE', url: `/api/team/v1/me/identities/${w.providerId}`, headers })
  assert.equal(unlinked.statusCode, 200, unlinked.body)
  assert.equal((await signIn(account)).session, undefined)
})

test('roles follow the groups at every sign-in, but the last owner of a workspace stays', async () => {
  const { workspaceId, owner } = await w.team()
  const { account } = person({ groups: ['leads'] })
  const access = [
    { group: 'leads', workspaceId, role: 'owner' },
    { group: 'sales', workspaceId, role: 'member' },
  ]
  await configure({ access })
  const roleAfter = async (groups: string[]) => {
    const { to, session } = await signIn({ ...account, groups })
    return session === undefined ? to : (await sessionOf(session)).workspaces[0].role
  }
  assert.equal(await roleAfter(['leads']), 'owner')
  assert.equal(await roleAfter(['sales']), 'member', 'another owner is left')
  assert.equal(await roleAfter(['sales', 'leads']), 'owner', 'the highest role counts')
  await w.db.tx((tx) => tx`delete from members where workspace_id = ${workspaceId} and user_id = ${owner.userId}`)
  assert.equal(await roleAfter([]), 'owner', 'the last owner')
  await w.db.tx((tx) => tx`update members set role = 'owner' where workspace_id = ${workspaceId} and role <> 'owner'`)
  assert.equal(await roleAfter([]), '/sign-in?sso=no-group')
  const [left] = await w.db.sql`select 1 from sso_identities i join members m using (user_id)
    where m.workspace_id = ${workspaceId}`
  assert.equal(left, undefined, 'no group gives a role, so the person is no member')
})

test('a person without a mapped group or of another domain is refused, and gets no account', async () => {
  const { workspaceId } = await w.team()
  const rows: [to: string, settings: object, claims: object][] = [
    ['no-group', { access: [{ group: 'sales', workspaceId, role: 'member' }] }, { groups: ['other'] }],
    ['domain', { domains: ['elsewhere.example.com'], access: [{ group: null, workspaceId, role: 'member' }] }, {}],
    ['no-account', { createsPeople: false, access: [{ group: null, workspaceId, role: 'member' }] }, {}],
    ['unverified', { access: [{ group: null, workspaceId, role: 'member' }] }, { email_verified: undefined }],
    ['no-account', { access: [{ group: null, workspaceId, role: 'member' }] }, { email: undefined }],
  ]
  for (const [reason, settings, claims] of rows) {
    const { account } = person(claims as Record<string, unknown>)
    await configure(settings as Record<string, unknown>)
    const { to, session } = await signIn(account)
    assert.equal(to, `/sign-in?sso=${reason}`)
    assert.equal(session, undefined)
  }
})

test('a logout at the provider ends the session on every node, and its live stream', async () => {
  const { workspaceId } = await w.team()
  const { account } = person()
  await configure({ access: [{ group: null, workspaceId, role: 'member' }] })
  const [first, second] = [(await signIn(account)).session, (await signIn(account)).session]
  const stream = await follow({ ...w, workspaceId } as never, w.other, { cookie: cookieOf(second ?? '') })
  const seconds = Math.floor(Date.now() / 1000)
  const events = { 'http://schemas.openid.net/event/backchannel-logout': {} }
  const token = fake.sign({ iss: fake.issuer, aud: 'parley', iat: seconds, jti: 'all', events, sub: account.sub })
  const reply = await logout(token)
  assert.equal(reply.statusCode, 200, reply.body)
  await stream.ended
  for (const session of [first, second]) {
    for (const on of [w.node.app, w.other.app]) assert.equal(await sessionOf(session, on), null)
  }
})

test("the provider's own logout token ends only the session that it names", async () => {
  const { workspaceId } = await w.team()
  const { account } = person()
  await configure({ access: [{ group: null, workspaceId, role: 'member' }] })
  const [first, second] = [(await signIn(account)).session, (await signIn(account)).session]
  // Each visit is a session of its own at the provider.
  await fake.logOut(account.sub, fake.state.lastSid)
  assert.equal(await sessionOf(second), null)
  assert.equal((await sessionOf(first))?.user.email, account.email)
})

const logout = (token: string) =>
  app.inject({
    method: 'POST',
    url: `/sso/${w.providerId}/logout`,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams({ logout_token: token }).toString(),
  })

test('sign-on can be forced only after a successful test, and then only named operators use a password', async () => {
  const { workspaceId, member } = await w.team()
  const domain = member.email.slice(member.email.indexOf('@') + 1)
  const operator = await w.user({ isOperator: true, email: `op@${domain}` })
  const force = (isForced: boolean) => w.call('POST', `/${w.providerId}/forced`, { isForced })
  const settings = {
    domains: [domain],
    access: [{ group: null, workspaceId, role: 'member' }],
    breakGlass: [operator.userId],
  }
  await configure({ ...settings, clientSecret: 'another one' })
  assert.match((await force(true)).body.statusMessage, /test sign-in/)
  await configure(settings)
  const { headers, session } = await signedIn(operator.email)
  const begun = await post(`/identity-providers/${w.providerId}/test`, {}, headers)
  assert.equal(begun.statusCode, 200, begun.body)
  fake.state.account = person({ groups: ['sales'] }).account
  await w.comeBack(await fake.visit(begun.json().url), `${headers.cookie}; ${attemptIn(begun)}`)
  const { test: result } = (await w.call('GET', '')).body.providers[0]
  assert.equal(result.problem, null)
  assert.deepEqual(result.groups, ['sales'])
  assert.match((await force(true)).body.statusMessage, /two-factor/)
  const { secret } = (await post('/me/totp', { password }, headers)).json()
  const confirmed = await post('/me/totp/confirm', { code: codeAt(secret, new Date()) }, headers)
  assert.equal(confirmed.statusCode, 200, confirmed.body)
  const before = await signedIn(member.email)
  assert.equal((await force(true)).status, 200)
  assert.equal(await sessionOf(before.session), null, 'sessions by password end')
  assert.equal(await sessionOf(session), null, 'the second factor has ended it')
  const refused = await post('/sign-in', { email: member.email, password })
  assert.equal(refused.statusCode, 403)
  assert.equal(refused.json().data.code, 'SSO_REQUIRED')
  assert.equal((await post('/sign-in', { email: operator.email, password })).json().step, 'totp')
  const link = (email: string) =>
    app.inject({
      method: 'POST',
      url: '/api/team/v1/sign-in-links',
      headers: { authorization: 'Bearer team-token-of-the-tests-0001' },
      payload: { email },
    })
  const mailed = async (email: string, userId: string) => {
    const asked = await post('/sign-in/mail', { email, purpose: 'reset', language: 'en' })
    assert.equal(asked.statusCode, 200, asked.body)
    return (await w.db.sql`select id from mails where user_id = ${userId}`).length
  }
  const colleague = await w.user({ isOperator: true, email: `other@${domain}` })
  assert.equal(await mailed(colleague.email, colleague.userId), 0, 'an address alone is no way past the provider')
  assert.equal(await mailed(operator.email, operator.userId), 1)
  assert.equal((await link(member.email)).statusCode, 403)
  assert.equal((await link(operator.email)).statusCode, 201)
  assert.equal((await w.call('DELETE', `/${w.providerId}`)).status, 409)
  assert.equal((await force(false)).status, 200)
  assert.equal((await post('/sign-in', { email: member.email, password })).statusCode, 200)
})
