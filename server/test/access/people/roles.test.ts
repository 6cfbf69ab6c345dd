import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testDatabase } from '../../support/database.ts'
import { type Method, operatorToken, type SignedIn, teamWorld } from '../../support/team-app.ts'

const { db } = await testDatabase()
const { app, team, user, send } = await teamWorld(db)
after(() => app.close())

const here = await team()
const elsewhere = await team()
const operator = await user({ isOperator: true })
const nobody = '01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e'

async function tokenOf(role: string): Promise<string> {
  const body = { name: role, role }
  return (await send(here.owner, 'POST', `/workspaces/${here.workspaceId}/tokens`, body)).json().value
}

const callers: Record<string, SignedIn | string | null> = {
  anonymous: null,
  stranger: elsewhere.owner,
  member: here.member,
  admin: here.admin,
  owner: here.owner,
  operator,
  'member token': await tokenOf('member'),
  'owner token': await tokenOf('owner'),
  'operator token': operatorToken,
}

// What is sent finds nothing to change (or is refused by its schema), so that every caller meets the same state.
type Row = [method: Method, path: string, body: object | undefined, needs: 'member' | 'admin' | 'owner', passed: number]
const inWorkspace: Row[] = [
  ['GET', '', undefined, 'member', 200],
  ['PATCH', '', {}, 'admin', 400],
  ['GET', '/labels', undefined, 'member', 200],
  ['POST', '/labels', {}, 'admin', 400],
  ['PATCH', `/labels/${nobody}`, { name: 'New' }, 'admin', 404],
  ['DELETE', `/labels/${nobody}`, undefined, 'admin', 404],
  ['GET', '/members', undefined, 'member', 200],
  ['PATCH', `/members/${nobody}`, { role: 'admin' }, 'admin', 404],
  ['DELETE', `/members/${nobody}`, undefined, 'member', 404],
  ['GET', `/members/${nobody}/made`, undefined, 'admin', 404],
  ['DELETE', `/members/${nobody}/sessions`, undefined, 'owner', 404],
  ['GET', '/invitations', undefined, 'admin', 200],
  ['POST', '/invitations', {}, 'admin', 400],
  ['DELETE', `/invitations/${nobody}`, undefined, 'admin', 404],
  ['GET', '/tokens', undefined, 'owner', 200],
  ['POST', '/tokens', {}, 'owner', 400],
  ['DELETE', `/tokens/${nobody}`, undefined, 'owner', 404],
  ['GET', '/audit', undefined, 'admin', 200],
]

const ranks = { member: 0, admin: 1, owner: 2 }
const rankOf: Record<string, number> = {
  member: 0,
  admin: 1,
  owner: 2,
  operator: 2,
  'member token': 0,
  'owner token': 2,
  'operator token': 2,
}

for (const [method, path, body, needs, passed] of inWorkspace) {
  test(`${method} /workspaces/:workspaceId${path.replace(nobody, ':id')} is for ${needs}s and above`, async () => {
    for (const [name, as] of Object.entries(callers)) {
      const answer = await send(as, method, `/workspaces/${here.workspaceId}${path}`, body)
      const rank = rankOf[name]
      const expected = name === 'anonymous' ? 401 : rank === undefined ? 404 : rank >= ranks[needs] ? passed : 403
      assert.equal(answer.statusCode, expected, name)
      if (rank === undefined && name !== 'anonymous') assert.equal(answer.json().statusMessage, 'Workspace not found')
    }
  })
}

const forOperators: [Method, string, object | undefined, number][] = [
  ['POST', '/workspaces', {}, 400],
  ['GET', '/tokens', undefined, 200],
  ['POST', '/tokens', {}, 400],
  ['DELETE', `/tokens/${nobody}`, undefined, 404],
  ['GET', '/audit', undefined, 200],
  ['POST', '/sessions/end-all', {}, 400],
]

for (const [method, path, body, passed] of forOperators) {
  test(`${method} ${path.replace(nobody, ':id')} is for operators`, async () => {
    for (const [name, as] of Object.entries(callers)) {
      const expected = name === 'anonymous' ? 401 : name.startsWith('operator') ? passed : 403
      assert.equal((await send(as, method, path, body)).statusCode, expected, name)
    }
  })
}

const forUsers: [Method, string, object | undefined, number][] = [
  ['GET', '/sessions', undefined, 200],
  ['DELETE', `/sessions/${nobody}`, undefined, 404],
  ['PATCH', '/me', { name: 'Ana Lima' }, 200],
  ['POST', '/me/totp', {}, 400],
  ['POST', '/me/totp/confirm', {}, 400],
  ['DELETE', '/me/totp', {}, 400],
]

for (const [method, path, body, passed] of forUsers) {
  test(`${method} ${path.replace(nobody, ':id')} is for signed-in users, not for tokens`, async () => {
    for (const [name, as] of Object.entries(callers)) {
      const answer = await send(as, method, path, body)
      const forToken = passed === 400 ? 400 : 403
      const expected = name === 'anonymous' ? 401 : typeof as === 'string' ? forToken : passed
      assert.equal(answer.statusCode, expected, name)
    }
  })
}

test('a workspace that does not exist and a foreign one are told apart by nothing', async () => {
  const foreign = await send(here.owner, 'GET', `/workspaces/${elsewhere.workspaceId}`)
  for (const id of [nobody, 'not-a-uuid', '%20']) {
    const missing = await send(here.owner, 'GET', `/workspaces/${id}`)
    assert.equal(missing.statusCode, 404)
    assert.deepEqual(missing.json(), foreign.json())
  }
})

test('a record of another workspace is not found under one’s own', async () => {
  const label = await send(elsewhere.owner, 'POST', `/workspaces/${elsewhere.workspaceId}/labels`, {
    name: 'Theirs',
    color: 'red',
  })
  const body = { email: 'x@example.com', role: 'member' }
  const invited = await send(elsewhere.owner, 'POST', `/workspaces/${elsewhere.workspaceId}/invitations`, body)
  const mine = `/workspaces/${here.workspaceId}`
  const paths = [
    `/labels/${label.json().label.id}`,
    `/invitations/${invited.json().invitation.id}`,
    `/members/${elsewhere.member.userId}`,
  ]
  for (const path of paths) assert.equal((await send(here.owner, 'DELETE', mine + path)).statusCode, 404, path)
})
