import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Role } from '../../../src/team/member.ts'
import { pick } from '../../support/pick.ts'
import { operatorToken, type SignedIn, teamWorld } from '../../support/team-app.ts'

const { clock, team, join, send, db } = await teamWorld()

const memberPath = (workspaceId: string, userId: string) => `/workspaces/${workspaceId}/members/${userId}`

test('the last owner can neither leave nor step down', async () => {
  const { workspaceId, owner } = await team()
  const path = memberPath(workspaceId, owner.userId)
  assert.equal((await send(owner, 'PATCH', path, { role: 'admin' })).statusCode, 409)
  assert.equal((await send(owner, 'DELETE', path)).statusCode, 409)
  assert.equal((await send(owner, 'GET', `/workspaces/${workspaceId}`)).json().workspace.role, 'owner')
})

test('of two owners who remove each other concurrently, one stays', async () => {
  for (let round = 0; round < 5; round++) {
    const { workspaceId, owner } = await team()
    const second = await join(workspaceId, 'owner')
    const answers = await Promise.all([
      send(owner, 'DELETE', memberPath(workspaceId, second.userId)),
      send(second, 'DELETE', memberPath(workspaceId, owner.userId)),
    ])
    assert.ok(answers.some((answer) => answer.statusCode === 200))
    const owners = await db.sql`select from members where workspace_id = ${workspaceId} and role = 'owner'`
    assert.equal(owners.count, 1)
  }
})

test('admins manage members and admins, owners also owners; a member may leave, but not remove others', async () => {
  const people = await team()
  const rows: [by: Role, who: Role, change: { role: Role } | 'remove', status: number][] = [
    ['admin', 'member', { role: 'admin' }, 200],
    ['admin', 'member', { role: 'owner' }, 403],
    ['admin', 'owner', { role: 'member' }, 403],
    ['admin', 'owner', 'remove', 403],
    ['owner', 'admin', { role: 'owner' }, 200],
    ['owner', 'member', { role: 'member' }, 200],
    ['member', 'admin', 'remove', 403],
    ['member', 'member', 'remove', 200],
  ]
  for (const [by, who, change, status] of rows) {
    const path = memberPath(people.workspaceId, people[who].userId)
    const body = change === 'remove' ? undefined : change
    const answer = await send(people[by], change === 'remove' ? 'DELETE' : 'PATCH', path, body)
    assert.equal(answer.statusCode, status, `${by}, ${who}: ${JSON.stringify(change)}`)
  }
  assert.equal((await send(people.member, 'GET', `/workspaces/${people.workspaceId}`)).statusCode, 404)
})

test('a member sets and clears away, and colleagues see since when', async () => {
  const { workspaceId, admin, member } = await team()
  const path = `/workspaces/${workspaceId}/away`
  const say = async (isAway: boolean) => assert.equal((await send(member, 'POST', path, { isAway })).statusCode, 200)
  const away = async () => {
    const { members } = (await send(admin, 'GET', `/workspaces/${workspaceId}/members`)).json()
    return members.flatMap((one: { userId: string; awaySince: string | null }) =>
      one.awaySince === null ? [] : [[one.userId, one.awaySince]],
    )
  }
  assert.deepEqual(await away(), [])
  const since = clock.now().toISOString()
  await say(true)
  clock.advance(60_000)
  await say(true)
  assert.deepEqual(await away(), [[member.userId, since]])
  await say(false)
  assert.deepEqual(await away(), [])
  assert.equal((await send(member, 'POST', path, {})).statusCode, 400)
  assert.equal((await send(operatorToken, 'POST', path, { isAway: true })).statusCode, 403)
})

test('an absence ends by itself at the time that was set, and admins set it for others', async () => {
  const { workspaceId, admin, member } = await team()
  const path = `/workspaces/${workspaceId}/away`
  const away = async () => {
    const { members } = (await send(member, 'GET', `/workspaces/${workspaceId}/members`)).json()
    const one = members.find(({ userId }: { userId: string }) => userId === member.userId)
    return [one.awaySince, one.awayUntil]
  }
  const [since, until] = [clock.now().toISOString(), new Date(clock.now().getTime() + 60_000).toISOString()]
  const theirs = { isAway: true, until, userId: member.userId.toUpperCase() }
  assert.equal((await send(admin, 'POST', path, theirs)).statusCode, 200)
  assert.deepEqual(await away(), [since, until])
  clock.advance(60_000)
  assert.deepEqual(await away(), [null, null])
  const again = clock.now().toISOString()
  assert.equal((await send(member, 'POST', path, { isAway: true })).statusCode, 200)
  assert.deepEqual(await away(), [again, null], 'since now, not since the absence before')
  const { entries } = (await send(admin, 'GET', `/workspaces/${workspaceId}/audit`)).json()
  assert.deepEqual([entries[0].action, entries[0].target], ['member.away-changed', `member:${member.userId}`])
  const refused: [SignedIn, object, number][] = [
    [member, { isAway: true, userId: admin.userId }, 403],
    [admin, { isAway: true, userId: workspaceId }, 404],
    [member, { isAway: true, until }, 400],
    [member, { isAway: false, until: '2099-01-01T00:00:00Z' }, 400],
  ]
  for (const [by, body, status] of refused) assert.equal((await send(by, 'POST', path, body)).statusCode, status)
})

test('the audit log records actor and action, without values', async () => {
  const { workspaceId, owner, member } = await team()
  await send(owner, 'PATCH', memberPath(workspaceId, member.userId), { role: 'admin' })
  await send(owner, 'DELETE', memberPath(workspaceId, member.userId))
  const { entries } = (await send(owner, 'GET', `/workspaces/${workspaceId}/audit`)).json()
  const lines = pick(entries, 'action')
  assert.deepEqual(lines, ['member.removed', 'member.role-changed', 'workspace.created'])
  assert.deepEqual(entries[0].actor, { type: 'user', id: owner.userId })
  assert.equal(entries[0].target, `member:${member.userId}`)
  const older = await send(owner, 'GET', `/workspaces/${workspaceId}/audit?limit=1&before=${entries[1].id}`)
  assert.deepEqual(older.json().entries, [entries[2]])
  assert.equal((await send(owner, 'GET', `/workspaces/${workspaceId}/audit?limit=101`)).statusCode, 400)
})
