import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newestAudit } from '../../support/audit.ts'
import { pick } from '../../support/pick.ts'
import { cookieOf, password, publicUrl, sessionIn, teamWorld } from '../../support/team-app.ts'

const { app, clock, user, team, join, send, db } = await teamWorld()

type Team = Awaited<ReturnType<typeof team>>

async function invite(
  { workspaceId, owner }: Team,
  email: string,
  role = 'member',
): Promise<{ token: string; id: string }> {
  const answer = await send(owner, 'POST', `/workspaces/${workspaceId}/invitations`, { email, role })
  assert.equal(answer.statusCode, 201)
  const { url, invitation } = answer.json()
  assert.equal(invitation.email, email)
  return { token: url.slice(url.lastIndexOf('/') + 1), id: invitation.id }
}

const accept = (payload: object) => app.inject({ method: 'POST', url: '/api/team/v1/invitations/accept', payload })

const read = (payload: object, headers = {}) =>
  app.inject({ method: 'POST', url: '/api/team/v1/invitations/read', headers, payload })

const newcomer = { name: 'Bo Chen', password }

test('accepting creates a member with the invited role, and signs them in', async () => {
  const place = await team()
  const { token } = await invite(place, 'bo@example.com', 'admin')
  const answer = await accept({ token, ...newcomer })
  assert.equal(answer.statusCode, 200)
  const { members } = (await send(place.owner, 'GET', `/workspaces/${place.workspaceId}/members`)).json()
  const bo = members.find((one: { email: string }) => one.email === 'bo@example.com')
  assert.equal(bo.name, 'Bo Chen')
  assert.equal(bo.role, 'admin')
  const me = { userId: bo.userId, email: bo.email, sessionToken: sessionIn(answer) ?? '' }
  assert.equal((await send(me, 'GET', `/workspaces/${place.workspaceId}`)).json().workspace.role, 'admin')
})

test('the link shows its invitation any number of times until accepted', async () => {
  const place = await team()
  const { token } = await invite(place, 'reader@example.com', 'admin')
  for (let look = 0; look < 3; look++) {
    const answer = await read({ token })
    assert.deepEqual(answer.json(), { workspaceName: 'Acme', email: 'reader@example.com', role: 'admin' })
  }
  assert.equal((await read({ token }, { origin: 'https://evil.example' })).statusCode, 403)
  assert.equal((await read({ token: 'unknown' })).statusCode, 404)
  assert.equal((await read({ token: 'x'.repeat(101) })).statusCode, 400)
  assert.equal((await accept({ token, ...newcomer })).statusCode, 200)
  assert.equal((await read({ token })).statusCode, 404)
})

test('of ten concurrent acceptances one succeeds', async () => {
  const place = await team()
  const { token } = await invite(place, 'ten@example.com')
  const answers = await Promise.all(Array.from({ length: 10 }, () => accept({ token, ...newcomer })))
  const statuses = answers.map((answer) => answer.statusCode).sort()
  assert.equal(statuses.filter((status) => status === 200).length, 1)
  assert.ok(statuses.every((status) => status === 200 || status === 404 || status === 409 || status === 503))
})

test('an invitation works for 7 days, and not after it was withdrawn', async () => {
  const place = await team()
  const late = await invite(place, 'late@example.com')
  clock.advance(7 * 24 * 3_600_000)
  assert.equal((await accept({ token: late.token, ...newcomer })).statusCode, 404)
  const again = { ...place, owner: await join(place.workspaceId, 'owner') }
  const { token, id } = await invite(again, 'gone@example.com')
  const path = `/workspaces/${place.workspaceId}/invitations`
  assert.equal((await send(again.owner, 'GET', path)).json().invitations.length, 1)
  assert.equal((await send(again.owner, 'DELETE', `${path}/${id}`)).statusCode, 200)
  assert.equal((await send(again.owner, 'GET', path)).json().invitations.length, 0)
  assert.equal((await accept({ token, ...newcomer })).statusCode, 404)
})

test('the link of an open invitation can be copied again by members who could create it', async () => {
  const place = await team()
  const { workspaceId, owner, admin, member } = place
  const { id, token } = await invite(place, 'again@example.com')
  const path = `/workspaces/${workspaceId}/invitations`
  const copied = await send(admin, 'POST', `${path}/${id}/link`)
  assert.deepEqual([copied.statusCode, copied.json().url], [200, `${publicUrl}/invite/${token}`])
  const [line] = await newestAudit(db.sql, workspaceId, 1)
  assert.deepEqual(
    [line?.action, line?.actor_id, line?.target],
    ['invitation.link-copied', admin.userId, `invitation:${id}`],
  )
  const [row] = await db.sql`select t::text as whole from invitations t where id = ${id}`
  assert.ok(!String(row?.whole).includes(Buffer.from(token).toString('hex')), 'the database stores it encrypted')

  const ownerOnly = await invite(place, 'second-owner@example.com', 'owner')
  const refused: [Parameters<typeof send>[0], string, number][] = [
    [admin, ownerOnly.id, 403],
    [owner, ownerOnly.id, 200],
    [member, id, 403],
    [(await team()).owner, id, 404],
    [null, id, 401],
    [owner, '01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e', 404],
    [owner, 'first', 400],
  ]
  for (const [as, of, status] of refused) {
    assert.equal((await send(as, 'POST', `${path}/${of}/link`)).statusCode, status, `${of} ${status}`)
  }
  await db.sql`update invitations set token = null where id = ${ownerOnly.id}`
  assert.equal(
    (await send(owner, 'POST', `${path}/${ownerOnly.id}/link`)).statusCode,
    409,
    'made before links were kept',
  )
  assert.equal((await accept({ token, ...newcomer })).statusCode, 200)
  assert.equal((await send(owner, 'POST', `${path}/${id}/link`)).statusCode, 404)
  const [taken] = await db.sql`select token from invitations where id = ${id}`
  assert.equal(taken?.token, null, 'what was taken is kept no longer')
})

test('a signed-in user joins with their account and keeps their session; cross-site requests are refused', async () => {
  const place = await team()
  const { token } = await invite(place, 'any@example.com')
  const me = await user()
  const [url, headers] = ['/api/team/v1/invitations/accept', { cookie: cookieOf(me.sessionToken) }]
  assert.equal((await app.inject({ method: 'POST', url, headers, payload: { token } })).statusCode, 403)
  const answer = await send(me, 'POST', '/invitations/accept', { token })
  assert.deepEqual([answer.statusCode, sessionIn(answer)], [200, undefined])
  assert.equal((await send(me, 'GET', `/workspaces/${place.workspaceId}`)).json().workspace.role, 'member')
})

test('an invitation stays valid when a member, or a user who must sign in first, tries it', async () => {
  const place = await team()
  const known = await user()
  const { token } = await invite(place, known.email)
  assert.equal((await accept({ token, ...newcomer })).statusCode, 409)
  assert.equal((await send(place.member, 'POST', '/invitations/accept', { token })).statusCode, 409)
  assert.equal((await send(known, 'POST', '/invitations/accept', { token })).statusCode, 200)
})

test('a new user needs a name and a password of 12 characters', async () => {
  const { token } = await invite(await team(), 'short@example.com')
  const paths = async (body: object) => {
    const answer = await accept({ token, ...body })
    assert.equal(answer.statusCode, 400)
    return pick(answer.json().data.issues, 'path')
  }
  assert.deepEqual(await paths({}), ['name', 'password'])
  assert.deepEqual(await paths({ name: 'Bo', password: 'elevenchars' }), ['password'])
  assert.deepEqual(await paths({ name: '   ', password }), ['name'])
})

test('an admin cannot invite an owner', async () => {
  const { workspaceId, admin } = await team()
  const body = { email: 'boss@example.com', role: 'owner' }
  assert.equal((await send(admin, 'POST', `/workspaces/${workspaceId}/invitations`, body)).statusCode, 403)
})

test('invited addresses are encrypted in the database', async () => {
  await invite(await team(), 'canary-invitee@example.com')
  const rows = await db.sql<{ row: string }[]>`select i::text as row from invitations i`
  const dump = rows.map(({ row }) => row).join()
  assert.ok(!dump.includes('canary') && !dump.includes(Buffer.from('canary').toString('hex')))
})
