import assert from 'node:assert/strict'
import { test } from 'node:test'
import { everyStatementOf, openNode, testDatabase } from '../../support/database.ts'
import { atEnd } from '../../support/file-lifecycle.ts'
import { addAgent, customerMessage, inboxWorld } from '../../support/inbox/inbox-world.ts'
import { signedInMember } from '../../support/member.ts'
import { customer, routedWorld } from './routing-world.ts'

test('50 new customers at once on two nodes: in turn, each of five available people gets exactly ten', async () => {
  const { w, members, shares, writeAtOnce } = await routedWorld(7)
  for (const away of members.slice(1, 3)) await away.call('POST', '/away', { isAway: true })
  const node = openNode((await testDatabase()).options)
  atEnd(() => node.close())
  await writeAtOnce(50, [w.db, node])
  assert.deepEqual(await shares(), [10, 0, 0, 10, 10, 10, 10])
})

test('100 new customers of one delivery are shared in turn, and the turn goes on with the next delivery', async () => {
  const { w, shares } = await routedWorld(3)
  const events = (from: number, count: number) =>
    Array.from({ length: count }, (_, n) => customerMessage({ at: w.clock.now(), customer: customer(from + n) }))
  await w.deliver(...events(0, 100))
  assert.deepEqual((await shares()).sort(), [33, 33, 34])
  await w.deliver(...events(100, 2))
  assert.deepEqual(await shares(), [34, 34, 34])
})

test('with the least busy, who has more open conversations gets none until others have as many', async () => {
  const { admin, memberIds, newCustomer, shares } = await routedWorld(2, { assignment: 'least_busy' })
  for (const n of [1, 2, 3]) {
    const { id } = await newCustomer(n)
    await admin.call('PATCH', `/inbox/conversations/${id}`, { assignedTo: memberIds[0] })
  }
  for (const n of [4, 5, 6]) assert.equal((await newCustomer(n)).assignedTo, memberIds[1])
  assert.deepEqual(await shares(), [3, 3])
  const last = await newCustomer(7)
  assert.equal(last.assignedTo, memberIds[0], 'the first in turn, of those who are equally busy')
})

test('nobody gets more than the limit, even at once; the others wait in the team until there is room', async () => {
  const { w, admin, memberIds, route, shares, writeAtOnce, afterMinutes } = await routedWorld(2)
  await route({ people: memberIds.map((userId) => ({ userId, capacity: 3 })) })
  await writeAtOnce(10)
  assert.deepEqual(await shares(), [3, 3])
  assert.equal(await afterMinutes(1), 0)
  const mine = (await admin.call('GET', `/inbox/conversations?assignedTo=${memberIds[0]}`)).body.conversations
  await admin.call('PATCH', `/inbox/conversations/${mine[0].id}`, { status: 'resolved' })
  assert.equal(await afterMinutes(1), 1)
  const [open] = await w.db.sql<{ count: number }[]>`
    select count(*)::integer as count
    from conversations
    where workspace_id = ${w.workspaceId}
      and status = 'open'
      and assigned_to = ${memberIds[0] ?? ''}`
  assert.equal(open?.count, 3)
  const { routing } = (await admin.call('GET', '/routing')).body
  assert.deepEqual(
    routing.people.map((one: { capacity: number; open: number }) => [one.capacity, one.open]),
    [
      [3, 3],
      [3, 3],
    ],
  )
})

test('who is away gets none, until the time that they are back at', async () => {
  const { w, members, memberIds, newCustomer } = await routedWorld(2)
  const [first] = members
  const until = new Date(w.clock.now().getTime() + 3_600_000).toISOString()
  await first?.call('POST', '/away', { isAway: true, until })
  for (const n of [1, 2]) assert.equal((await newCustomer(n)).assignedTo, memberIds[1])
  w.clock.advance(3_600_000)
  for (const n of [3, 4]) assert.equal((await newCustomer(n)).assignedTo, memberIds[n - 3])
})

test('an agent at its limit gets no more: the team does, and the activities say why', async () => {
  const { w, teamId, memberIds, route, newCustomer, activitiesOf } = await routedWorld(1)
  const agent = await addAgent(w)
  const rule = { connectionId: null, agent: 'key', keyId: agent.id, teamId }
  await route({ rules: [rule], agents: [{ keyId: agent.id, capacity: 2 }] })
  for (const n of [1, 2]) {
    const { owner, teamName, assignedTo } = await newCustomer(n)
    assert.deepEqual([owner, teamName, assignedTo], [`agent:${agent.id}`, 'Sales', null])
  }
  const third = await newCustomer(3)
  assert.deepEqual([third.owner, third.teamId, third.assignedTo], ['human', teamId, memberIds[0]])
  assert.deepEqual((await activitiesOf(third.id)).sort(), [
    ['assignee', memberIds[0], 'round_robin'],
    ['team', teamId, 'capacity'],
  ])
})

test('a connection with a rule of its own follows it, and the others that of the workspace', async () => {
  const { w, admin, teamId, memberIds, route, newCustomer } = await routedWorld(1)
  const agent = await addAgent(w)
  const own = { connectionId: w.connectionId, agent: 'default', keyId: null, teamId: null }
  const all = { connectionId: null, agent: 'none', keyId: null, teamId }
  await route({ rules: [own, all] })
  assert.equal((await newCustomer(1)).owner, `agent:${agent.id}`)
  const health = await admin.call('GET', `/connections/${w.connectionId}/health`)
  assert.equal(health.body.health.newConversationsGoTo.keyId, agent.id)
  const other = await w.addConnection()
  await w.deliverOn(other, customerMessage({ at: w.clock.now(), customer: customer(2) }))
  const { conversations } = (await admin.call('GET', `/inbox/conversations?connectionId=${other}`)).body
  assert.deepEqual([conversations[0].owner, conversations[0].assignedTo], ['human', memberIds[0]])
  assert.equal((await admin.call('GET', `/connections/${other}/health`)).body.health.newConversationsGoTo, null)
})

test('the assignee is notified, and agents leave the conversation alone', async () => {
  const { members, newCustomer } = await routedWorld(1)
  const { id, held } = await newCustomer(1)
  assert.equal(held, true)
  const { notices } = (await members[0]?.call('GET', '/notices'))?.body ?? {}
  assert.deepEqual(
    notices.map((one: { kind: string; conversation: { id: string } }) => [one.kind, one.conversation.id]),
    [['assigned', id]],
  )
})

test('rules name what is of the workspace, and answering keys; members read them, admins change them', async () => {
  const { w, admin, members, teamId } = await routedWorld(1)
  const { id: reader } = await w.addKey({ scopes: ['inbox.read'] })
  const stranger = '01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e'
  const rule = { connectionId: null, agent: 'none', keyId: null, teamId: null }
  const refused: [object, string][] = [
    [{ rules: [{ ...rule, teamId: stranger }] }, 'rules[0].teamId'],
    [{ rules: [{ ...rule, connectionId: stranger }] }, 'rules[0].connectionId'],
    [{ rules: [rule, rule] }, 'rules[1].connectionId'],
    [{ rules: [{ ...rule, agent: 'key' }] }, 'rules[0].keyId'],
    [{ rules: [{ ...rule, agent: 'key', keyId: reader }] }, 'rules[0].keyId'],
    [{ agents: [{ keyId: stranger, capacity: 1 }] }, 'agents[0].keyId'],
    [{ people: [{ userId: stranger, capacity: 1 }] }, 'people[0].userId'],
    [{ people: [{ userId: members[0]?.userId, capacity: 0 }] }, 'people[0].capacity'],
  ]
  for (const [body, path] of refused) {
    const answer = await admin.call('PUT', '/routing', body)
    assert.deepEqual([answer.status, answer.body.data.issues[0].path], [400, path], JSON.stringify(body))
  }
  assert.equal((await members[0]?.call('PUT', '/routing', { rules: [] }))?.status, 403)
  const { rules } = (await members[0]?.call('GET', '/routing'))?.body.routing ?? {}
  assert.deepEqual(rules, [{ connectionId: null, agent: 'none', keyId: null, teamId }])
})

test('a workspace without rules sends not one statement more, whether it has teams or not', async () => {
  const count = async (hasTeam: boolean) => {
    const w = await inboxWorld()
    const admin = await signedInMember(w, 'admin')
    if (hasTeam) await admin.call('POST', '/teams', { name: 'Sales', memberIds: [admin.userId] })
    await w.customerWrites('first', { customer: customer(1) })
    const began = await everyStatementOf(() => w.deliver(customerMessage({ at: w.clock.now(), customer: customer(2) })))
    const known = await everyStatementOf(() => w.deliver(customerMessage({ at: w.clock.now(), customer: customer(2) })))
    assert.ok(![...began, ...known].some(({ text }) => /routing_|team_members/.test(text)))
    return [began.length, known.length]
  }
  assert.deepEqual(await count(true), await count(false))
})
