import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { startSession } from '../../../src/auth/sign-in/sessions.ts'
import { follow, startNode } from '../../support/events/feed-world.ts'
import { cookieOf, operatorToken, password, teamWorld } from '../../support/team-app.ts'
import type { Answer } from '../../support/world.ts'

const w = await teamWorld()
const { app, clock, db } = w
const core = 'urn:ietf:params:scim:schemas:core:2.0:'
const patchOp = 'urn:ietf:params:scim:api:messages:2.0:PatchOp'

let providers = 0

/** Adds a provider of its own domain, with the rules; returns how it calls the service. */
async function provisioned(settings: object = {}) {
  const [id, domain] = [randomUUID(), `p${++providers}.example.com`]
  const headers = { authorization: `Bearer ${operatorToken}` }
  const url = `/api/team/v1/identity-providers/${id}`
  const payload = {
    ...{ name: 'Acme', issuer: 'https://sso.example.com', clientId: 'parley', clientSecret: 'a secret' },
    ...{ domains: [domain], linksByEmail: false, createsPeople: false, groupsClaim: null, access: [] },
    ...{ breakGlass: [], isEnabled: true, ...settings },
  }
  const saved = await app.inject({ method: 'PUT', url, headers, payload })
  assert.equal(saved.statusCode, 200, saved.body)
  const token: string = (await app.inject({ method: 'POST', url: `${url}/scim-token`, headers })).json().value
  const call = async (method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: object) => {
    const reply = await app.inject({
      method,
      url: `/scim/v2${path}`,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' },
      ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
    })
    return {
      status: reply.statusCode,
      body: (reply.body === '' ? null : JSON.parse(reply.body)) as Answer['body'],
      headers: reply.headers,
    }
  }
  const patch = (path: string, ...Operations: object[]) => call('PATCH', path, { schemas: [patchOp], Operations })
  /** Creates a user; returns its id and the account. */
  const create = async (name = `ana${++providers}`, changes: object = {}) => {
    const { status, body } = await call('POST', '/Users', oktaUser(`${name}@${domain}`, changes))
    assert.equal(status, 201, JSON.stringify(body))
    return { id: body.id as string, email: `${name}@${domain}`, userId: await accountOf(body.id) }
  }
  return { id, domain, url, token, call, patch, create }
}

async function accountOf(id: string): Promise<string> {
  const [row] = await db.sql<{ user_id: string }[]>`select user_id from scim_users where id = ${id}`
  return row?.user_id ?? ''
}

/** A user as Okta sends it. */
const oktaUser = (userName: string, changes: object = {}) => ({
  schemas: [`${core}User`],
  userName,
  name: { givenName: 'Ana', familyName: 'Lima' },
  emails: [{ primary: true, value: userName, type: 'work' }],
  displayName: 'Ana Lima',
  locale: 'en-US',
  externalId: '00ujl29u0le5T6Aj10h7',
  groups: [],
  password: '1mz050nq',
  active: true,
  ...changes,
})

async function sessionOf(userId: string): Promise<string> {
  const start = { userId, signedInBy: 'link', device: 'Firefox', previousToken: null } as const
  return (await db.tx((tx) => startSession(tx, start, clock.now()))).token
}

const isSignedIn = async (token: string) =>
  (await app.inject({ url: '/api/team/v1/session', headers: { cookie: cookieOf(token) } })).statusCode === 200

async function roleIn(workspaceId: string, userId: string): Promise<string | undefined> {
  const [row] = await db.sql<{ role: string }[]>`
    select role from members where workspace_id = ${workspaceId} and user_id = ${userId}`
  return row?.role
}

test('the token is shown once, replaced by the next and useless after it is revoked', async () => {
  const { token, url } = await provisioned()
  const headers = { authorization: `Bearer ${operatorToken}` }
  const status = async (value: string) =>
    (await app.inject({ url: '/scim/v2/Users', headers: { authorization: `Bearer ${value}` } })).statusCode
  assert.equal(await status(token), 200)
  const next = (await app.inject({ method: 'POST', url: `${url}/scim-token`, headers })).json().value
  assert.deepEqual([await status(token), await status(next)], [401, 200])
  await app.inject({ method: 'DELETE', url: `${url}/scim-token`, headers })
  assert.equal(await status(next), 401)
  for (const other of ['', operatorToken, 'pls_x']) assert.equal(await status(other), 401)
  const refused = await app.inject({ url: '/scim/v2/Users' })
  assert.equal(refused.json().schemas[0], 'urn:ietf:params:scim:api:messages:2.0:Error')
  assert.equal(refused.headers['www-authenticate'], 'Bearer')
})

test('a client reads what the service supports', async () => {
  const { call } = await provisioned()
  const config = (await call('GET', '/ServiceProviderConfig')).body
  assert.deepEqual([config.patch.supported, config.bulk.supported, config.filter.maxResults], [true, false, 200])
  assert.deepEqual((await call('GET', '/ResourceTypes')).body.totalResults, 2)
  assert.equal((await call('GET', `/Schemas/${core}User`)).body.id, `${core}User`)
  assert.equal((await call('GET', '/Schemas/other')).status, 404)
})

test('Okta looks a user up, creates and changes it, and finds it again', async () => {
  const { call, domain, patch } = await provisioned()
  const userName = `Ana.Lima@${domain}`
  const find = (filter: string) => call('GET', `/Users?filter=${encodeURIComponent(filter)}&startIndex=1&count=100`)
  assert.deepEqual((await find(`userName eq "${userName}"`)).body.Resources, [])
  const created = await call('POST', '/Users', oktaUser(userName))
  assert.equal(created.status, 201)
  assert.match(String(created.headers['content-type']), /^application\/scim\+json/)
  const { id } = created.body
  assert.equal(created.headers.location, created.body.meta.location)
  assert.equal(created.body.password, undefined)
  for (const filter of [
    `userName eq "${userName.toLowerCase()}"`,
    'externalId eq "00ujl29u0le5T6Aj10h7"',
    `id eq "${id}"`,
  ]) {
    const found = (await find(filter)).body
    assert.deepEqual([found.totalResults, found.Resources[0].id], [1, id], filter)
  }
  const put = await call('PUT', `/Users/${id}`, oktaUser(userName, { displayName: 'Ana Maria', name: {} }))
  assert.deepEqual([put.body.displayName, put.body.name, put.body.active], ['Ana Maria', undefined, true])
  const off = await patch(`/Users/${id}`, { op: 'replace', value: { active: false } })
  assert.equal(off.body.active, false)
  assert.equal((await call('GET', `/Users/${id}`)).body.active, false)
  const again = await call('POST', '/Users', oktaUser(userName))
  assert.deepEqual([again.status, again.body.scimType], [409, 'uniqueness'])
})

test('Entra ID changes single attributes, with its own spellings', async () => {
  const { create, patch, domain } = await provisioned()
  const { id, userId } = await create()
  const changed = await patch(
    `/Users/${id}`,
    { op: 'Replace', path: 'displayName', value: 'Bia Reis' },
    { op: 'Add', path: 'name.givenName', value: 'Bia' },
    { op: 'Replace', path: 'emails[type eq "work"].value', value: `bia${id}@${domain}` },
    { op: 'Add', path: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department', value: 'Sales' },
    { op: 'Replace', path: `${core}User:externalId`, value: '58342554-38d6-4ec8-948c-50044d0a33fd' },
    { op: 'Replace', value: { 'name.familyName': 'Reis' } },
  )
  assert.equal(changed.status, 200, JSON.stringify(changed.body))
  assert.deepEqual(changed.body.name, { givenName: 'Bia', familyName: 'Reis' })
  assert.equal(changed.body.emails[0].value, `bia${id}@${domain}`)
  const token = await sessionOf(userId)
  const { user } = (await app.inject({ url: '/api/team/v1/session', headers: { cookie: cookieOf(token) } })).json()
  assert.deepEqual([user.name, user.email], ['Bia Reis', `bia${id}@${domain}`])
  assert.equal((await patch(`/Users/${id}`, { op: 'Replace', path: 'active', value: 'False' })).body.active, false)
  assert.equal((await patch(`/Users/${id}`, { op: 'Replace', path: 'active', value: 'True' })).body.active, true)
  const removed = await patch(`/Users/${id}`, { op: 'Remove', path: 'displayName' })
  assert.equal(removed.body.displayName, undefined)
})

test('switching a user off ends sessions, streams and mails at once and removes the access, but not what they did', async () => {
  const { workspaceId, owner } = await w.team()
  const { create, patch, call } = await provisioned({ access: [{ group: null, workspaceId, role: 'admin' }] })
  const { id, userId, email } = await create()
  assert.equal(await roleIn(workspaceId, userId), 'admin')
  const token = await sessionOf(userId)
  const made = await w.send({ userId, email, sessionToken: token }, 'POST', `/workspaces/${workspaceId}/labels`, {
    name: 'Made by Ana',
    color: 'blue',
  })
  assert.equal(made.statusCode, 201, made.body)
  await db.sql`
    insert into mails (
      id, kind, cause, workspace_id, user_id, priority, status, content, created_at, expires_at, next_at
    )
    values (
      gen_random_uuid(), 'digest', ${`digest:${userId}`}, ${workspaceId}, ${userId}, 1, 'waiting', '\\x00', ${clock.now()},
      ${clock.now()}, 'infinity'
    )`
  const node = await startNode(w)
  const stream = await follow({ ...w, workspaceId } as never, node, { cookie: cookieOf(token) })
  await patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false })
  await stream.ended
  assert.equal((await db.sql`select from mails where user_id = ${userId}`).length, 0)
  assert.equal(await isSignedIn(token), false)
  assert.equal(await roleIn(workspaceId, userId), undefined)
  const { labels } = (await w.send(owner, 'GET', `/workspaces/${workspaceId}/labels`)).json()
  assert.ok(labels.some(({ name }: { name: string }) => name === 'Made by Ana'))
  const link = await w.send(operatorToken, 'POST', '/sign-in-links', { email })
  assert.equal(link.statusCode, 403, 'no other way in')
  const disabled = async () =>
    (await w.send(operatorToken, 'GET', '/users/disabled'))
      .json()
      .users.filter((one: { id: string }) => one.id === userId)
  const [listed] = await disabled()
  assert.deepEqual([listed.name, listed.email], ['Ana Lima', email])
  assert.equal((await w.send(operatorToken, 'POST', '/users/enable', { email })).statusCode, 200)
  assert.deepEqual(await disabled(), [])
  assert.equal(await roleIn(workspaceId, userId), undefined, 'it gets no workspace back')
  await patch(`/Users/${id}`, { op: 'replace', path: 'active', value: true })
  assert.equal(await roleIn(workspaceId, userId), 'admin')
  assert.equal((await call('DELETE', `/Users/${id}`)).status, 204)
  assert.equal(await roleIn(workspaceId, userId), undefined)
  assert.equal((await call('GET', `/Users/${id}`)).status, 404)
  assert.equal((await create(email.slice(0, email.indexOf('@')))).userId, userId, 'the account is found again')
})

test('groups give roles at once, in the forms of Okta and Entra ID', async () => {
  const { workspaceId } = await w.team()
  const access = [
    { group: 'Sales', workspaceId, role: 'member' },
    { group: 'Leads', workspaceId, role: 'admin' },
  ]
  const { create, call, patch } = await provisioned({ access })
  const [ana, bia] = [await create(), await create()]
  const created = await call('POST', '/Groups', {
    schemas: [`${core}Group`],
    displayName: 'Sales',
    members: [{ value: ana.id }],
  })
  assert.equal(created.status, 201, JSON.stringify(created.body))
  const group = `/Groups/${created.body.id}`
  const roles = async () => [await roleIn(workspaceId, ana.userId), await roleIn(workspaceId, bia.userId)]
  assert.deepEqual(await roles(), ['member', undefined])
  await patch(group, { op: 'Add', path: 'members', value: [{ $ref: null, value: bia.id }] })
  assert.deepEqual(await roles(), ['member', 'member'])
  await patch(group, { op: 'remove', path: `members[value eq "${ana.id}"]` })
  assert.deepEqual(await roles(), [undefined, 'member'])
  await patch(group, { op: 'replace', path: 'members', value: [{ value: ana.id, display: 'Ana' }] })
  assert.deepEqual(await roles(), ['member', undefined])
  await patch(group, { op: 'replace', value: { id: created.body.id, displayName: 'Leads' } })
  assert.deepEqual(await roles(), ['admin', undefined], 'a renamed group gives the roles of its new name')
  await patch(group, { op: 'Remove', path: 'members', value: [{ value: ana.id }] })
  assert.deepEqual(await roles(), [undefined, undefined])
  await call('PUT', group, { displayName: 'Leads', members: [{ value: bia.id }, { value: randomUUID() }] })
  assert.deepEqual(await roles(), [undefined, 'admin'])
  const query = `filter=${encodeURIComponent('displayName eq "leads"')}`
  const [full] = (await call('GET', `/Groups?${query}`)).body.Resources
  assert.deepEqual(
    full.members.map(({ value }: { value: string }) => value),
    [bia.id],
    'unknown members are dropped',
  )
  const [short] = (await call('GET', `/Groups?excludedAttributes=members&${query}`)).body.Resources
  assert.equal(short.members, undefined)
  assert.equal((await call('DELETE', group)).status, 204)
  assert.deepEqual(await roles(), [undefined, undefined])
})

test('a provider can only take over accounts of its own or those that an operator trusts it with', async () => {
  const { call, domain, url } = await provisioned()
  const member = await w.user({ email: `m@${domain}` })
  const operator = await w.user({ email: `o@${domain}`, isOperator: true })
  const post = async (email: string) => (await call('POST', '/Users', oktaUser(email))).status
  assert.equal(await post(member.email), 409)
  assert.equal(await post('ana@elsewhere.example.com'), 400)
  const headers = { authorization: `Bearer ${operatorToken}` }
  const { providers: all } = (await app.inject({ url: '/api/team/v1/identity-providers', headers })).json()
  const {
    id,
    isForced,
    test: _,
    scimTokenAt,
    redirectUri,
    logoutUri,
    startUri,
    ...settings
  } = all.find((one: { id: string }) => url.endsWith(one.id))
  await app.inject({ method: 'PUT', url, headers, payload: { ...settings, linksByEmail: true } })
  assert.equal(await post(member.email), 201)
  assert.equal(await post(operator.email), 409, 'never an operator')
  const signIn = { email: operator.email, password }
  assert.equal((await app.inject({ method: 'POST', url: '/api/team/v1/sign-in', payload: signIn })).statusCode, 200)
})

test('a provider sees only its own users and groups', async () => {
  const [one, two] = [await provisioned(), await provisioned()]
  const { id } = await one.create()
  const group = (await one.call('POST', '/Groups', { displayName: 'Sales' })).body.id
  for (const path of [`/Users/${id}`, `/Groups/${group}`]) {
    assert.equal((await two.call('GET', path)).status, 404, path)
    assert.equal((await two.call('DELETE', path)).status, 404, path)
    assert.equal((await two.patch(path, { op: 'replace', value: { displayName: 'x' } })).status, 404, path)
  }
  assert.equal((await two.call('GET', '/Users')).body.totalResults, 0)
})

test('lists have pages', async () => {
  const { create, call } = await provisioned()
  const ids = [(await create()).id, (await create()).id, (await create()).id].sort()
  const page = async (query: string) => {
    const { totalResults, startIndex, itemsPerPage, Resources } = (await call('GET', `/Users?${query}`)).body
    return [totalResults, startIndex, itemsPerPage, Resources.map(({ id }: { id: string }) => ids.indexOf(id))]
  }
  assert.deepEqual(await page('startIndex=2&count=1'), [3, 2, 1, [1]])
  assert.deepEqual(await page('startIndex=0&count=2'), [3, 1, 2, [0, 1]])
  assert.deepEqual(await page('count=0'), [3, 1, 0, []])
  assert.deepEqual(await page('startIndex=9'), [3, 9, 0, []])
})

const refusals: [
  what: string,
  method: 'GET' | 'POST' | 'PATCH',
  path: string,
  body: object | undefined,
  scimType: string,
][] = [
  ['another filter', 'GET', `/Users?filter=${encodeURIComponent('emails co "x"')}`, undefined, 'invalidFilter'],
  ['an unquoted filter', 'GET', '/Users?filter=userName%20eq%20x', undefined, 'invalidFilter'],
  ['no user name', 'POST', '/Users', { active: true }, 'invalidValue'],
  ['no address', 'POST', '/Users', { userName: 'ana' }, 'invalidValue'],
  ['a wrong boolean', 'POST', '/Users', { userName: 'a@example.com', active: 'maybe' }, 'invalidValue'],
  ['a long name', 'POST', '/Users', { userName: 'a@example.com', displayName: 'x'.repeat(201) }, 'invalidValue'],
  ['a list', 'POST', '/Users', [], 'invalidSyntax'],
  ['no name of a group', 'POST', '/Groups', { members: [] }, 'invalidValue'],
  ['a wrong operation', 'PATCH', '/Users/ID', { Operations: [{ op: 'move' }] }, 'invalidSyntax'],
  ['no operations', 'PATCH', '/Users/ID', {}, 'invalidSyntax'],
  ['no path or object', 'PATCH', '/Users/ID', { Operations: [{ op: 'replace', value: 1 }] }, 'invalidValue'],
]
test('requests that are not valid are refused in the form of SCIM', async () => {
  const { call, create } = await provisioned()
  const { id } = await create()
  for (const [what, method, path, body, scimType] of refusals) {
    const { status, body: error } = await call(method, path.replace('ID', id), body)
    assert.deepEqual([status, error.status, error.scimType], [400, '400', scimType], what)
  }
})
