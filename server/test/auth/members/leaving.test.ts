import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Role } from '../../../src/team/member.ts'
import { signedInMember, type TestMember } from '../../support/member.ts'
import { pick } from '../../support/pick.ts'
import { testTeamToken, type World, world } from '../../support/world.ts'

const newcomer = { name: 'Bo Chen', password: 'four plain words together' }

async function asToken(w: World, value: string, method: 'GET' | 'POST' | 'DELETE', path: string, body?: object) {
  const url = path.startsWith('/api') ? path : `/api/team/v1/workspaces/${w.workspaceId}${path}`
  return w.call(method, url, { key: value, ...(body === undefined ? {} : { body }) })
}

/** A member of each of these roles. */
const signedIn = <const R extends readonly Role[]>(w: World, ...roles: R) =>
  Promise.all(roles.map((role) => signedInMember(w, role))) as Promise<{ [n in keyof R]: TestMember }>

async function tokenOf(by: TestMember, role: Role): Promise<{ id: string; value: string }> {
  const { status, body } = await by.call('POST', '/tokens', { name: 'Nightly', role })
  assert.equal(status, 201)
  return { id: body.token.id, value: body.value }
}

async function linkOf(by: TestMember, role: Role): Promise<string> {
  const { status, body } = await by.call('POST', '/invitations', { email: `guest-${Math.random()}@example.com`, role })
  assert.equal(status, 201)
  return body.url.slice(body.url.lastIndexOf('/') + 1)
}

async function accept(w: World, token: string) {
  const payload = { token, ...newcomer }
  const reply = await w.app.inject({ method: 'POST', url: '/api/team/v1/invitations/accept', payload })
  return { status: reply.statusCode, message: reply.json().statusMessage as string | undefined }
}

const newKey = { name: 'Agent', scopes: ['leads.read'] }
const newWebhook = { url: 'https://hooks.example.com/secret-path', events: ['lead.*'] }

test('a removed member loses permissions, tokens and invitations', async () => {
  const w = await world()
  const [owner, leaver] = await signedIn(w, 'owner', 'owner')
  const token = await tokenOf(leaver, 'owner')
  const [byHand, byToken] = [await linkOf(leaver, 'admin'), await linkOf(leaver, 'member')]
  const removed = await owner.call('DELETE', `/members/${leaver.userId}`)
  assert.equal(removed.status, 200)
  assert.deepEqual(removed.body.ended, { tokens: 1, invitations: 2, keys: 0, webhooks: 0 })
  assert.equal((await leaver.call('GET', '/leads')).status, 404)
  assert.equal((await asToken(w, token.value, 'GET', '/leads/export')).status, 401)
  for (const link of [byHand, byToken]) assert.equal((await accept(w, link)).status, 404)
  const session = await w.app.inject({ url: '/api/team/v1/session', headers: { cookie: leaver.cookie } })
  assert.deepEqual([session.statusCode, session.json().workspaces], [200, []])
})

test("resources created with a member's token belong to the member, also indirectly", async () => {
  const w = await world()
  const [owner, leaver] = await signedIn(w, 'owner', 'owner')
  const first = await tokenOf(leaver, 'owner')
  const second = await asToken(w, first.value, 'POST', '/tokens', { name: 'Of a token', role: 'owner' })
  assert.equal(second.body.token.createdBy, leaver.userId)
  const invited = await asToken(w, second.body.value, 'POST', '/invitations', { email: 'x@example.com', role: 'owner' })
  assert.equal(invited.body.invitation.createdBy, leaver.userId)
  const key = await asToken(w, second.body.value, 'POST', '/keys', newKey)
  assert.equal(key.body.key.createdBy, leaver.userId)
  const { body } = await owner.call('DELETE', `/members/${leaver.userId}?keys=revoke`)
  assert.deepEqual(body.ended, { tokens: 2, invitations: 1, keys: 1, webhooks: 0 })
  assert.equal((await asToken(w, second.body.value, 'GET', '/leads')).status, 401)
  assert.equal((await accept(w, invited.body.url.split('/').at(-1))).status, 404)
  assert.equal((await w.call('GET', '/api/v1/leads', { key: key.body.value })).status, 401)
})

test('the remover sees what the member created, and decides about keys and webhooks in the same request', async () => {
  const w = await world()
  const owner = await signedInMember(w, 'owner')
  for (const [query, works, state, ended] of [
    ['', 200, 'active', { keys: 0, webhooks: 0 }],
    ['?keys=keep&webhooks=keep', 200, 'active', { keys: 0, webhooks: 0 }],
    ['?keys=revoke&webhooks=disable', 401, 'disabled', { keys: 1, webhooks: 1 }],
  ] as const) {
    const leaver = await signedInMember(w, 'admin')
    const { value, key } = (await leaver.call('POST', '/keys', newKey)).body
    const { endpoint } = (await leaver.call('POST', '/webhooks', newWebhook)).body
    assert.equal(endpoint.createdBy, leaver.userId)
    await linkOf(leaver, 'member')
    const made = await owner.call('GET', `/members/${leaver.userId}/made`)
    assert.equal(made.status, 200)
    assert.deepEqual(pick(made.body.keys, 'id'), [key.id])
    assert.equal(made.body.webhooks[0].id, endpoint.id)
    assert.equal(made.body.webhooks[0].url, 'https://hooks.example.com/…')
    assert.equal(made.body.webhooks[0].lastUsedAt, null)
    assert.equal(made.body.invitations.length, 1)
    const removed = await owner.call('DELETE', `/members/${leaver.userId}${query}`)
    assert.deepEqual(removed.body.ended, { tokens: 0, invitations: 1, ...ended })
    assert.equal((await w.call('GET', '/api/v1/leads', { key: value })).status, works)
    assert.equal((await owner.call('GET', `/webhooks/${endpoint.id}`)).body.endpoint.state, state)
    assert.equal((await owner.call('GET', `/members/${leaver.userId}/made`)).status, 404)
  }
})

test('everything that ends with a membership is in the audit log', async () => {
  const w = await world()
  const [owner, leaver] = await signedIn(w, 'owner', 'admin')
  const { key } = (await leaver.call('POST', '/keys', newKey)).body
  await tokenOf(owner, 'member')
  await linkOf(leaver, 'member')
  await linkOf(leaver, 'member')
  await owner.call('DELETE', `/members/${leaver.userId}?keys=revoke`)
  const { entries } = (await owner.call('GET', '/audit?limit=3')).body
  assert.deepEqual(pick(entries, 'action', 'target', 'count'), [
    ['api-key.revoked', `api-key:${key.id}`, 1],
    ['invitation.withdrawn', `member:${leaver.userId}`, 2],
    ['member.removed', `member:${leaver.userId}`, 1],
  ])
})

test('a member can list what they created and leave, but cannot revoke or disable it', async () => {
  const w = await world()
  const [owner, admin, leaver] = await signedIn(w, 'owner', 'admin', 'member')
  assert.equal((await leaver.call('GET', `/members/${admin.userId}/made`)).status, 403)
  assert.equal((await leaver.call('GET', `/members/${leaver.userId}/made`)).status, 200)
  assert.equal((await admin.call('GET', `/members/${owner.userId}/made`)).status, 200)
  assert.equal((await leaver.call('DELETE', `/members/${leaver.userId}?keys=revoke`)).status, 403)
  assert.equal((await leaver.call('DELETE', `/members/${leaver.userId}?keys=burn`)).status, 400)
  assert.equal((await leaver.call('DELETE', `/members/${leaver.userId}`)).status, 200)
})

test('keys of other members and of the command line are kept on removal', async () => {
  const w = await world()
  const [owner, other, leaver] = await signedIn(w, 'owner', 'admin', 'admin')
  const kept = (await other.call('POST', '/keys', newKey)).body.value
  const link = await linkOf(other, 'member')
  await owner.call('DELETE', `/members/${leaver.userId}?keys=revoke&webhooks=disable`)
  assert.equal((await w.call('GET', '/api/v1/leads', { key: kept })).status, 200)
  assert.equal((await w.call('GET', '/api/v1/leads')).status, 200)
  assert.equal((await accept(w, link)).status, 200)
})

test('a lower role revokes tokens and invitations above it', async () => {
  const w = await world()
  const [owner, demoted] = await signedIn(w, 'owner', 'owner')
  const [high, low] = [await tokenOf(demoted, 'owner'), await tokenOf(demoted, 'member')]
  const [ofOwner, ofMember] = [await linkOf(demoted, 'owner'), await linkOf(demoted, 'member')]
  const works = async ({ value }: { value: string }) => (await asToken(w, value, 'GET', '/labels')).status
  const demote = (role: Role) => owner.call('PATCH', `/members/${demoted.userId}`, { role })
  await demote('admin')
  assert.deepEqual([await works(high), await works(low)], [401, 200])
  assert.equal((await accept(w, ofOwner)).status, 404)
  assert.equal((await owner.call('GET', '/invitations')).body.invitations.length, 1)
  await demote('member')
  assert.equal(await works(low), 200)
  assert.equal((await accept(w, ofMember)).status, 404)
})

test('an invitation is void if its sender left or lost the role it grants', async () => {
  const w = await world()
  const sender = await signedInMember(w, 'owner')
  const [ofOwner, ofAdmin] = [await linkOf(sender, 'owner'), await linkOf(sender, 'admin')]
  await w.db.sql`update members set role = 'admin' where user_id = ${sender.userId}`
  const refused = await accept(w, ofOwner)
  assert.equal(refused.status, 404)
  assert.match(refused.message ?? '', /no longer invite with this role\. Ask for a new one/)
  assert.equal((await sender.call('GET', '/invitations')).body.invitations.length, 1)
  const payload = { token: ofOwner }
  const look = await w.app.inject({ method: 'POST', url: '/api/team/v1/invitations/read', payload })
  assert.equal(look.statusCode, 404)
  await w.db.sql`delete from members where user_id = ${sender.userId}`
  assert.equal((await accept(w, ofAdmin)).status, 404)
  await w.db.sql`update users set is_operator = true where id = ${sender.userId}`
  assert.equal((await accept(w, ofAdmin)).status, 200)
})

test('nobody joins after the sender is removed, even concurrently', async () => {
  for (let round = 0; round < 3; round++) {
    const w = await world()
    const [owner, sender] = await signedIn(w, 'owner', 'owner')
    const link = await linkOf(sender, 'admin')
    const [accepted, removed] = await Promise.all([accept(w, link), owner.call('DELETE', `/members/${sender.userId}`)])
    assert.equal(removed.status, 200)
    const { members } = (await owner.call('GET', '/members')).body
    assert.equal(members.length, accepted.status === 200 ? 2 : 1)
    assert.equal(removed.body.ended.invitations, accepted.status === 200 ? 0 : 1)
  }
})

test('an owner can sign a member out everywhere, an admin cannot, and the sign-in link is void', async () => {
  const w = await world()
  const [owner, admin, member] = await signedIn(w, 'owner', 'admin', 'member')
  const stranger = await signedInMember(await world(), 'member')
  assert.equal((await admin.call('DELETE', `/members/${member.userId}/sessions`)).status, 403)
  assert.equal((await owner.call('DELETE', `/members/${stranger.userId}/sessions`)).status, 404)
  assert.equal((await member.call('GET', '/labels')).status, 200)
  assert.equal((await owner.call('DELETE', `/members/${member.userId}/sessions`)).status, 200)
  assert.equal((await member.call('GET', '/labels')).status, 401)
  assert.equal((await owner.call('GET', '/labels')).status, 200)
  const { entries } = (await owner.call('GET', '/audit?limit=1')).body
  assert.deepEqual([entries[0].action, entries[0].target], ['session.all-ended', `user:${member.userId}`])
})

test('an operator signs a user out everywhere by e-mail, and voids sign-ins in progress', async () => {
  const w = await world()
  const member = await signedInMember(w, 'member')
  const { members } = (await member.call('GET', '/members')).body
  const { email } = members[0]
  const link = await asToken(w, testTeamToken, 'POST', '/api/team/v1/sign-in-links', { email })
  const endAll = (body: object) => asToken(w, testTeamToken, 'POST', '/api/team/v1/sessions/end-all', body)
  assert.equal((await endAll({ email: 'nobody-at-all@example.com' })).status, 404)
  assert.equal((await endAll({ email })).status, 200)
  assert.equal((await member.call('GET', '/labels')).status, 401)
  const token = link.body.url.split('/').at(-1)
  const used = await w.app.inject({ method: 'POST', url: '/api/team/v1/sign-in/link', payload: { token } })
  assert.equal(used.statusCode, 401)
})

test('any member reads only the names of all members, keys and tokens', async () => {
  const w = await world()
  const owner = await signedInMember(w, 'owner')
  w.clock.advance(1000)
  const member = await signedInMember(w)
  const { body: made } = await owner.call('POST', '/tokens', { name: 'Nightly export', role: 'member' })
  const { status, body } = await member.call('GET', '/people')
  assert.equal(status, 200)
  assert.deepEqual(body, {
    members: [
      { id: owner.userId, name: 'Ana Lima', role: 'owner' },
      { id: member.userId, name: 'Ana Lima', role: 'member' },
    ],
    keys: [{ id: w.keyId, name: 'Test key', status: 'active' }],
    tokens: [{ id: made.token.id, name: 'Nightly export', status: 'active' }],
  })
})

test('revoked keys and tokens stay in the list; former members do not', async () => {
  const w = await world()
  const owner = await signedInMember(w, 'owner')
  const leaver = await signedInMember(w)
  const expired = await w.addKey({ name: 'Last week', expiresAt: new Date(w.clock.now().getTime() + 1000) })
  const { body: made } = await owner.call('POST', '/tokens', { name: 'Old export', role: 'member' })
  await owner.call('DELETE', `/tokens/${made.token.id}`)
  await owner.call('DELETE', `/keys/${w.keyId}`)
  await leaver.call('DELETE', `/members/${leaver.userId}`)
  w.clock.advance(1000)
  const { body } = await owner.call('GET', '/people')
  assert.deepEqual(body.members, [{ id: owner.userId, name: 'Ana Lima', role: 'owner' }])
  assert.deepEqual(body.keys, [
    { id: w.keyId, name: 'Test key', status: 'revoked' },
    { id: expired.id, name: 'Last week', status: 'expired' },
  ])
  assert.deepEqual(body.tokens, [{ id: made.token.id, name: 'Old export', status: 'revoked' }])
  assert.equal((await leaver.call('GET', '/people')).status, 404)
})
