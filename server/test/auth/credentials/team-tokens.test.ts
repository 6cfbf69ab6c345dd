import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isTeamToken, makeTeamToken } from '../../../src/auth/credentials/team-tokens.ts'
import { pick } from '../../support/pick.ts'
import { operatorToken, teamWorld } from '../../support/team-app.ts'

const { app, clock, team, send, db } = await teamWorld()

const create = (body: object, path = '/tokens') =>
  send(operatorToken, 'POST', path, { name: 'Test', role: 'owner', ...body })

test('a token has the documented form, and its checksum detects typos', () => {
  const token = makeTeamToken()
  assert.match(token, /^plt_[0-9A-Za-z]{32}_[0-9A-Za-z]{6}$/)
  assert.ok(isTeamToken(token))
  for (let at = 4; at < token.length; at++) {
    const typo = token.slice(0, at) + (token[at] === 'x' ? 'y' : 'x') + token.slice(at + 1)
    assert.ok(!isTeamToken(typo))
  }
})

test('a token works only in its workspace, with its role', async () => {
  const [here, elsewhere] = [await team(), await team()]
  const { value } = (
    await send(here.owner, 'POST', `/workspaces/${here.workspaceId}/tokens`, { name: 'T', role: 'admin' })
  ).json()
  assert.equal((await send(value, 'GET', `/workspaces/${here.workspaceId}/audit`)).statusCode, 200)
  assert.equal((await send(value, 'GET', `/workspaces/${here.workspaceId}/tokens`)).statusCode, 403)
  assert.equal((await send(value, 'GET', `/workspaces/${elsewhere.workspaceId}`)).statusCode, 404)
  const { workspaces } = (await send(value, 'GET', '/workspaces')).json()
  assert.deepEqual(pick(workspaces, 'id'), [here.workspaceId])
})

test('an installation token works in every workspace; with role owner it is an operator', async () => {
  const { workspaceId } = await team()
  const owner = (await create({})).json().value
  const member = (await create({ role: 'member' })).json().value
  assert.equal((await send(owner, 'GET', `/workspaces/${workspaceId}/tokens`)).statusCode, 200)
  assert.equal((await send(owner, 'GET', '/tokens')).statusCode, 200)
  assert.equal((await send(member, 'GET', `/workspaces/${workspaceId}`)).statusCode, 200)
  assert.equal((await send(member, 'GET', `/workspaces/${workspaceId}/audit`)).statusCode, 403)
  assert.equal((await send(member, 'GET', '/tokens')).statusCode, 403)
})

test('a revoked token stops working immediately', async () => {
  const { token, value } = (await create({})).json()
  assert.equal((await send(value, 'GET', '/workspaces')).statusCode, 200)
  assert.equal((await send(operatorToken, 'DELETE', `/tokens/${token.id}`)).statusCode, 200)
  const refused = await send(value, 'GET', '/workspaces')
  assert.equal(refused.statusCode, 401)
  assert.equal(refused.headers['www-authenticate'], 'Bearer')
  assert.equal((await send(operatorToken, 'DELETE', `/tokens/${token.id}`)).statusCode, 404)
})

test('an expired token stops working, and cannot be created', async () => {
  const expiresAt = new Date(clock.now().getTime() + 60_000).toISOString()
  const { value } = (await create({ expiresAt })).json()
  clock.advance(59_999)
  assert.equal((await send(value, 'GET', '/workspaces')).statusCode, 200)
  clock.advance(1)
  assert.equal((await send(value, 'GET', '/workspaces')).statusCode, 401)
  assert.equal((await create({ expiresAt })).statusCode, 400)
  assert.equal((await create({ expiresAt: 'soon' })).statusCode, 400)
})

test('the value is shown once, and stored only as a hash', async () => {
  const created = (await create({ name: 'Shown once' })).json()
  const listed = (await send(operatorToken, 'GET', '/tokens')).json()
  const row = listed.tokens.find((one: { id: string }) => one.id === created.token.id)
  assert.equal(row.shown, `plt_…${created.value.slice(-4)}`)
  assert.ok(!JSON.stringify(listed).includes(created.value))
  const rows = await db.sql<{ row: string }[]>`select t::text as row from team_tokens t`
  assert.ok(rows.every((one) => !one.row.includes(created.value)))
})

test('a wrong, empty or foreign credential is refused, even with a valid session', async () => {
  const { owner } = await team()
  for (const authorization of [
    'Bearer ',
    'Bearer x',
    `Basic ${operatorToken}`,
    `Bearer ${operatorToken}x`,
    operatorToken,
  ]) {
    const headers = { authorization, cookie: `parley_session=${owner.sessionToken}` }
    assert.equal((await app.inject({ url: '/api/team/v1/workspaces', headers })).statusCode, 401, authorization)
  }
})
