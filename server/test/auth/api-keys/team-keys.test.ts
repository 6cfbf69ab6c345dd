import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isKeyValue } from '../../../src/auth/api-keys/queries.ts'
import { newId } from '../../../src/base/id.ts'
import { newestAudit } from '../../support/audit.ts'
import { bearer } from '../../support/guarded-app.ts'
import { inboxWorld } from '../../support/inbox/inbox-world.ts'
import { leadsPath } from '../../support/leads/leads.ts'
import { pick } from '../../support/pick.ts'
import { teamWorld } from '../../support/team-app.ts'
import { testTeamToken } from '../../support/world.ts'

const { app, clock, team, send, db } = await teamWorld()

const settings = { name: ' Agent ', scopes: ['leads.write', 'leads.read'] }
const status = async (value: string) => (await app.inject({ url: leadsPath, headers: bearer(value) })).statusCode

test('a new key shows its value once', async () => {
  const { workspaceId, admin, member } = await team()
  const expiresAt = new Date(clock.now().getTime() + 86_400_000).toISOString()
  const allowlist = ['127.0.0.1', '::ffff:10.0.0.0/104', '2001:DB8::/32', '127.0.0.1']
  const created = await send(admin, 'POST', `/workspaces/${workspaceId}/keys`, { ...settings, allowlist, expiresAt })
  assert.equal(created.statusCode, 201)
  const { key, value } = created.json()
  assert.ok(isKeyValue(value))
  assert.deepEqual(key, {
    id: key.id,
    name: 'Agent',
    oauth: null,
    shown: `plk_…${value.slice(-4)}`,
    status: 'active',
    scopes: ['leads.read', 'leads.write'],
    connectionIds: [],
    phoneVisibility: 'full',
    allowlist: ['127.0.0.1', '10.0.0.0/8', '2001:db8::/32'],
    answersNewConversations: false,
    unansweredSends: null,
    dailySends: null,
    quietSeconds: null,
    maxParts: null,
    showTyping: false,
    approval: null,
    toolsOff: [],
    expiresAt,
    revokedAt: null,
    previousValidUntil: null,
    createdBy: admin.userId,
    createdAt: clock.now().toISOString(),
    lastUsedAt: null,
  })
  assert.equal(await status(value), 200)
  for (const path of ['', `/${key.id}`]) {
    const answer = await send(member, 'GET', `/workspaces/${workspaceId}/keys${path}`)
    assert.equal(answer.statusCode, 200)
    assert.ok(!answer.body.includes(value))
    assert.deepEqual(path === '' ? answer.json().keys : [answer.json().key], [key])
  }
  const [stored] = await db.sql`select t::text as whole from api_keys t where id = ${key.id}`
  assert.ok(!String(stored?.whole).includes(value.slice(0, 26)), 'the database never holds the value')
})

const wrongSettings: [field: string, settings: object][] = [
  ['scopes', { scopes: [] }],
  ['scopes[1]', { scopes: ['leads.read', 'leads.*'] }],
  ['name', { name: '  ' }],
  ['name', { name: 'x'.repeat(101) }],
  ['allowlist[1]', { allowlist: ['10.0.0.1', '10.0.0.0/33'] }],
  ['connectionIds[0]', { connectionIds: ['main'] }],
  ['answersNewConversations', { answersNewConversations: true }],
  ['unansweredSends', { unansweredSends: 0 }],
  ['unansweredSends', { unansweredSends: 51 }],
  ['unansweredSends', { unansweredSends: 1.5 }],
  ['dailySends', { dailySends: 0 }],
  ['dailySends', { dailySends: 100_001 }],
  ['dailySends', { dailySends: '5' }],
  ['quietSeconds', { quietSeconds: 31 }],
  ['quietSeconds', { quietSeconds: -1 }],
  ['maxParts', { maxParts: 0 }],
  ['maxParts', { maxParts: 11 }],
  ['toolsOff[0]', { toolsOff: ['fly'] }],
]
const onlyWhenMade: typeof wrongSettings = [
  ['expiresAt', { expiresAt: '2026-03-02T12:00:00.000Z' }],
  ['expiresAt', { expiresAt: 'tomorrow' }],
  ['phoneVisibility', { phoneVisibility: 'none' }],
  ['value', { value: 'plk_mine' }],
]

test('invalid settings are refused on create and change, naming the field', async () => {
  const { path, key, admin } = await newKey()
  const pathsOf = (answer: Awaited<ReturnType<typeof send>>) => [
    answer.statusCode,
    answer.json().data?.issues?.[0].path,
  ]
  for (const [field, wrong] of [...wrongSettings, ...onlyWhenMade]) {
    const made = await send(admin, 'POST', path, { ...settings, ...wrong })
    assert.deepEqual(pathsOf(made), [400, field], JSON.stringify(wrong))
  }
  for (const [field, wrong] of wrongSettings) {
    const changed = await send(admin, 'PATCH', `${path}/${key.id}`, wrong)
    assert.deepEqual(pathsOf(changed), [400, field], JSON.stringify(wrong))
  }
  assert.deepEqual((await send(admin, 'GET', path)).json(), { keys: [key] })
})

async function newKey() {
  const members = await team()
  const path = `/workspaces/${members.workspaceId}/keys`
  const { key, value } = (await send(members.admin, 'POST', path, settings)).json()
  return { ...members, path, key, value }
}

test('a key that may answer gets new conversations, unless disabled on create or change', async () => {
  const { workspaceId, path, admin } = await newKey()
  const answering = { ...settings, scopes: ['inbox.write'] }
  const make = async (more: object) => (await send(admin, 'POST', path, { ...answering, ...more })).json().key
  const key = await make({})
  const other = await make({ answersNewConversations: false })
  assert.deepEqual([key.answersNewConversations, other.answersNewConversations], [true, false])

  const change = (id: string, body: object) => send(admin, 'PATCH', `${path}/${id}`, body)
  const changed = await change(key.id, { answersNewConversations: false })
  assert.deepEqual(changed.json(), { key: { ...key, answersNewConversations: false } })
  await change(key.id, { answersNewConversations: false })
  const audited = (await newestAudit(db.sql, workspaceId)).filter(({ action }) => action === 'api-key.changed')
  assert.deepEqual(pick(audited, 'target'), [`api-key:${key.id}`], 'what changes nothing leaves no line')
})

test('admins set each send limit of a key separately, and clear it with null', async () => {
  const { workspaceId, path, key, admin } = await newKey()
  const change = (body: object) => send(admin, 'PATCH', `${path}/${key.id}`, body)
  assert.equal((await change({ dailySends: 5 })).json().key.dailySends, 5)
  const both = (await change({ unansweredSends: 50 })).json().key
  assert.deepEqual([both.unansweredSends, both.dailySends], [50, 5])
  await change({ unansweredSends: 50 })
  assert.equal((await change({ unansweredSends: null })).json().key.unansweredSends, null)
  const audited = (await newestAudit(db.sql, workspaceId)).filter(({ action }) => action === 'api-key.changed')
  assert.equal(audited.length, 3, 'what changes nothing leaves no line')
})

test('admins set how a key works as an agent, 0 seconds included, and clear it with null', async () => {
  const { path, key, admin } = await newKey()
  const change = async (body: object) => (await send(admin, 'PATCH', `${path}/${key.id}`, body)).json().key
  const agentSettingsOf = ({ quietSeconds, maxParts }: { quietSeconds: number; maxParts: number }) => [
    quietSeconds,
    maxParts,
  ]
  assert.deepEqual(agentSettingsOf(await change({ quietSeconds: 0 })), [0, null])
  assert.deepEqual(agentSettingsOf(await change({ maxParts: 3 })), [0, 3])
  assert.deepEqual(agentSettingsOf(await change({ quietSeconds: null })), [null, 3])
  assert.equal((await change({ showTyping: true })).showTyping, true)
  assert.equal((await change({ maxParts: null })).showTyping, true)
})

test('a key without the scope to answer, or an inactive one, gets no new conversations', async () => {
  const { path, key, admin } = await newKey()
  const change = (id: string, body: object) => send(admin, 'PATCH', `${path}/${id}`, body)
  const refused = await change(key.id, { answersNewConversations: true })
  assert.equal(refused.statusCode, 400)
  assert.equal(refused.json().data.issues[0].path, 'answersNewConversations')
  assert.equal((await change(key.id, {})).statusCode, 400)
  assert.equal((await change(key.id, { answersNewConversations: false, phoneVisibility: 'masked' })).statusCode, 400)
  const missing = '01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e'
  assert.equal((await change(missing, { answersNewConversations: false })).statusCode, 404)
  await send(admin, 'DELETE', `${path}/${key.id}`)
  assert.equal((await change(key.id, { answersNewConversations: false })).statusCode, 409)
})

test('a key is renamed and re-scoped, effective with the next request', async () => {
  const { workspaceId, path, key, value, admin } = await newKey()
  assert.equal(await status(value), 200)
  const change = async (body: object) => {
    const answer = await send(admin, 'PATCH', `${path}/${key.id}`, body)
    assert.equal(answer.statusCode, 200, answer.body)
    return answer.json().key
  }
  assert.deepEqual(await change({ name: ' Website ' }), { ...key, name: 'Website' })
  assert.equal(await status(value), 200)
  const scopes = ['leads.write', 'inbox.read', 'inbox.write']
  assert.deepEqual((await change({ scopes: scopes.toReversed() })).scopes, scopes)
  assert.equal(await status(value), 401, 'it may no longer read leads')
  assert.deepEqual((await change({ allowlist: ['10.0.0.0/8'], scopes: ['leads.read'] })).allowlist, ['10.0.0.0/8'])
  assert.equal(await status(value), 401, 'it may not be used from here')
  await change({ allowlist: [] })
  assert.equal(await status(value), 200)
  await change({ allowlist: [], name: 'Website' })
  const actions = (await newestAudit(db.sql, workspaceId)).map(({ action }) => action)
  const rescoped = 'api-key.permissions-changed'
  assert.deepEqual(actions, [rescoped, rescoped, rescoped, 'api-key.renamed', 'api-key.created', ...actions.slice(5)])
})

test('a key that loses the scope to answer gets no new conversations', async () => {
  const { path, key, admin } = await newKey()
  const change = (body: object) => send(admin, 'PATCH', `${path}/${key.id}`, body)
  const given = await change({ scopes: ['inbox.write'], answersNewConversations: true })
  assert.equal(given.json().key.answersNewConversations, true)
  const refused = await change({ scopes: ['inbox.read'], answersNewConversations: true })
  assert.deepEqual([refused.statusCode, refused.json().data.issues[0].path], [400, 'answersNewConversations'])
  assert.equal((await change({ scopes: ['inbox.read'] })).json().key.answersNewConversations, false)
})

test('a revoked key stops immediately, and stays in the list', async () => {
  const { workspaceId, path, key, value, admin } = await newKey()
  assert.equal(await status(value), 200)
  const revoked = await send(admin, 'DELETE', `${path}/${key.id}`)
  assert.equal(revoked.json().key.status, 'revoked')
  assert.equal(await status(value), 401)
  clock.advance(1000)
  const again = await send(admin, 'DELETE', `${path}/${key.id}`)
  assert.deepEqual(again.json(), revoked.json())
  assert.deepEqual((await send(admin, 'GET', path)).json().keys, [revoked.json().key])
  const actions = (await newestAudit(db.sql, workspaceId)).map(({ action, target }) => [action, target])
  assert.deepEqual(actions.slice(0, 2), [
    ['api-key.revoked', `api-key:${key.id}`],
    ['api-key.created', `api-key:${key.id}`],
  ])
})

test('a rotated key keeps its id and settings; its old value stops immediately, or after at most 30 days', async () => {
  const { path, key, value: first, admin } = await newKey()
  const after = (ms: number) => new Date(clock.now().getTime() + ms).toISOString()
  const rotate = (body: object) => send(admin, 'POST', `${path}/${key.id}/rotate`, body)
  assert.equal(await status(first), 200)
  const { key: same, value: second } = (await rotate({})).json()
  assert.deepEqual(same, { ...key, shown: `plk_…${second.slice(-4)}`, previousValidUntil: null })
  assert.deepEqual([await status(first), await status(second)], [401, 200])
  for (const days of [-1, 31]) {
    assert.equal((await rotate({ previousValidUntil: after(days * 86_400_000) })).statusCode, 400)
  }
  const previousValidUntil = after(60_000)
  const { key: kept, value: third } = (await rotate({ previousValidUntil })).json()
  assert.equal(kept.previousValidUntil, previousValidUntil)
  assert.deepEqual([await status(second), await status(third)], [200, 200])
  clock.advance(60_000)
  assert.deepEqual([await status(second), await status(third)], [401, 200])
})

test('a key that is revoked or expired is not rotated', async () => {
  const { path, key, admin } = await newKey()
  await send(admin, 'DELETE', `${path}/${key.id}`)
  assert.equal((await send(admin, 'POST', `${path}/${key.id}/rotate`, {})).statusCode, 409)
  const expiresAt = new Date(clock.now().getTime() + 1000).toISOString()
  const short = (await send(admin, 'POST', path, { ...settings, expiresAt })).json().key
  clock.advance(1000)
  assert.equal((await send(admin, 'GET', `${path}/${short.id}`)).json().key.status, 'expired')
  assert.equal((await send(admin, 'POST', `${path}/${short.id}/rotate`, {})).statusCode, 409)
})

test('a key can only be limited to connections of its workspace, and the error names others', async () => {
  const [w, other] = [await inboxWorld(), await inboxWorld()]
  const path = `/api/team/v1/workspaces/${w.workspaceId}`
  const make = async (connectionIds: string[]) => {
    const body = { name: 'Agent', scopes: ['inbox.read'], connectionIds }
    const answer = await w.call('POST', `${path}/keys`, { key: testTeamToken, body })
    return [answer.status, answer.body.data?.issues.map((one: { path: string }) => one.path)]
  }
  assert.deepEqual(await make([w.connectionId.toUpperCase()]), [201, undefined])
  assert.deepEqual(await make([w.connectionId, other.connectionId]), [400, ['connectionIds[1]']])
  assert.deepEqual(await make([newId(w.clock.now()), w.connectionId]), [400, ['connectionIds[0]']])
  await w.call('DELETE', `${path}/connections/${w.connectionId}`, { key: testTeamToken })
  assert.deepEqual(await make([w.connectionId]), [400, ['connectionIds[0]']])
  const { body } = await w.call('GET', `${path}/keys`, { key: testTeamToken })
  assert.equal(body.keys.filter((key: { name: string }) => key.name === 'Agent').length, 1)
})
