import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clearRemovedTeams } from '../../../src/inbox/routing/clear-teams.ts'
import { settleRoutingWaits } from '../../../src/inbox/routing/route-waiting.ts'
import { openNode, testDatabase } from '../../support/database.ts'
import { atEnd } from '../../support/file-lifecycle.ts'
import { addAgent } from '../../support/inbox/inbox-world.ts'
import { signedInMember } from '../../support/member.ts'
import { customer, routedWorld } from './routing-world.ts'

test('who does not answer in time loses the conversation to the next, a number of times, then nobody has it', async () => {
  const { teamId, memberIds, newCustomer, conversationOf, afterMinutes, activitiesOf } = await routedWorld(3, {
    answerMinutes: 5,
    maxReassignments: 2,
  })
  const [a, b, c] = memberIds
  const { id, assignedTo } = await newCustomer(1)
  assert.equal(assignedTo, a)
  assert.equal(await afterMinutes(4), 0, 'not before the time')
  for (const wanted of [b, c, null]) {
    await afterMinutes(5)
    assert.equal((await conversationOf(id)).assignedTo, wanted)
  }
  assert.equal(await afterMinutes(60), 0, 'and it stays so')
  assert.equal((await conversationOf(id)).teamId, teamId)
  assert.deepEqual(
    (await activitiesOf(id)).filter(([kind]) => kind === 'assignee'),
    [
      ['assignee', a, 'round_robin'],
      ['assignee', b, 'no_answer'],
      ['assignee', c, 'no_answer'],
      ['assignee', null, 'no_answer'],
    ],
  )
})

test('an answer, and being taken by another person, end the wait', async () => {
  const { members, memberIds, newCustomer, conversationOf, afterMinutes } = await routedWorld(2, { answerMinutes: 5 })
  const [first] = members
  const answered = await newCustomer(1)
  const place = `/inbox/conversations/${answered.id}`
  await first?.call('POST', `${place}/messages`, { kind: 'text', text: 'Hello' }, { 'idempotency-key': 'one' })
  const taken = await newCustomer(2)
  await first?.call('PATCH', `/inbox/conversations/${taken.id}`, { assignedTo: memberIds[0] })
  assert.equal(await afterMinutes(6), 0)
  for (const { id } of [answered, taken]) assert.equal((await conversationOf(id)).assignedTo, memberIds[0])
})

test('two nodes that settle the same waits reassign each conversation once', async () => {
  const { w, newCustomer, conversationOf, memberIds } = await routedWorld(2, { answerMinutes: 5 })
  const [one, two] = [await newCustomer(1), await newCustomer(2)]
  w.clock.advance(6 * 60_000)
  const node = openNode((await testDatabase()).options)
  atEnd(() => node.close())
  const counts = await Promise.all([w.db, node].map((db) => settleRoutingWaits({ ...w, db })))
  assert.equal(
    counts.reduce((sum, count) => sum + count, 0),
    2,
  )
  const after = await Promise.all([one, two].map(async ({ id }) => (await conversationOf(id)).assignedTo))
  assert.deepEqual(after, [memberIds[1], memberIds[0]])
})

test('outside business hours nobody loses a conversation; the time to answer counts from their opening', async () => {
  const { w, admin, memberIds, newCustomer, conversationOf, afterMinutes } = await routedWorld(2, { answerMinutes: 5 })
  const closed = { monday: [], tuesday: [], thursday: [], friday: [], saturday: [], sunday: [] }
  // It is Tuesday, March 10.
  const week = { ...closed, wednesday: [{ from: '09:00', to: '18:00' }] }
  await admin.call('PATCH', '', { hours: { timeZone: 'UTC', week } })
  const { id } = await newCustomer(1)
  await afterMinutes(60)
  assert.equal((await conversationOf(id)).assignedTo, memberIds[0])
  w.clock.advance(Date.UTC(2026, 2, 11, 9, 4) - w.clock.now().getTime())
  await settleRoutingWaits(w)
  assert.equal((await conversationOf(id)).assignedTo, memberIds[0], 'four minutes after opening')
  await afterMinutes(2)
  assert.equal((await conversationOf(id)).assignedTo, memberIds[1])
})

test('while everybody is away a conversation waits in the team, and goes to who is back first', async () => {
  const { members, memberIds, newCustomer, conversationOf, afterMinutes } = await routedWorld(2)
  for (const one of members) await one.call('POST', '/away', { isAway: true })
  const waiting = [await newCustomer(1), await newCustomer(2)]
  assert.deepEqual(
    waiting.map(({ assignedTo }) => assignedTo),
    [null, null],
  )
  assert.equal(await afterMinutes(1), 0)
  await members[1]?.call('POST', '/away', { isAway: false })
  assert.equal(await afterMinutes(1), 2)
  for (const { id } of waiting) assert.equal((await conversationOf(id)).assignedTo, memberIds[1])
})

test('what an agent of a team hands over, or loses, goes to a person of the team', async () => {
  const { w, admin, teamId, memberIds, route, newCustomer, conversationOf, afterMinutes } = await routedWorld(1)
  const agent = await addAgent(w)
  await route({ rules: [{ connectionId: null, agent: 'default', keyId: null, teamId }] })
  const [handed, stopped] = [await newCustomer(1), await newCustomer(2)]
  const path = `/api/v2/conversations/${handed.id}/hand-over`
  const answer = await w.call('POST', path, { key: agent.value, body: { summary: 'Wants the money back.' } })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  await afterMinutes(1)
  assert.equal((await conversationOf(handed.id)).assignedTo, memberIds[0])
  await admin.call('PATCH', '', { agentsStopped: true })
  await afterMinutes(1)
  assert.equal((await conversationOf(stopped.id)).assignedTo, memberIds[0])
})

test('ten requests for the next conversation at once get ten different ones, the longest waiting first', async () => {
  const { w, members, newCustomer } = await routedWorld(10, { assignment: 'manual' })
  const waiting: string[] = []
  for (let n = 0; n < 12; n++) {
    waiting.push((await newCustomer(n)).id)
    w.clock.advance(1000)
  }
  const taken = await Promise.all(
    members.map(async (one) => (await one.call('POST', '/inbox/conversations/take-next')).body.conversation),
  )
  assert.deepEqual(taken.map(({ id }) => id).sort(), waiting.slice(0, 10).sort())
  assert.deepEqual(
    taken.map(({ assignedTo }) => assignedTo),
    members.map(({ userId }) => userId),
  )
})

test('the next conversation is of my teams or of none, of people, and not of a colleague', async () => {
  const { w, admin, members, teamId, route, newCustomer, activitiesOf } = await routedWorld(1, { assignment: 'manual' })
  const [mine] = members
  const other = await signedInMember(w)
  const next = async (by = other) => (await by.call('POST', '/inbox/conversations/take-next')).body.conversation
  const ofTeam = await newCustomer(1)
  assert.equal(await next(), null)
  w.clock.advance(1000)
  assert.equal((await mine?.call('POST', '/inbox/conversations/take-next'))?.body.conversation.id, ofTeam.id)
  assert.deepEqual((await activitiesOf(ofTeam.id)).at(-1), ['assignee', mine?.userId, 'took_next'])
  await route({ rules: [] })
  const ofNone = await newCustomer(2)
  assert.equal((await next()).id, ofNone.id)
  assert.equal(await next(), null)
  const agent = await addAgent(w)
  await w.customerWrites('Hi', { customer: customer(3) })
  assert.equal(await next(), null, 'an agent has it')
  const { conversations } = (await admin.call('GET', `/inbox/conversations?owner=agent:${agent.id}`)).body
  const path = `/api/v2/conversations/${conversations[0].id}`
  await w.call('POST', `${path}/answer`, { key: agent.value, body: { text: 'One moment.' } })
  await w.call('POST', `${path}/hand-over`, { key: agent.value, body: { summary: 'Refund.' } })
  assert.equal((await next()).id, conversations[0].id, 'answered, and handed over')
  const listed = (await admin.call('GET', `/inbox/conversations?teamId=${teamId}`)).body.conversations
  assert.deepEqual(
    listed.map(({ id }: { id: string }) => id),
    [ofTeam.id],
  )
  const none = (await admin.call('GET', '/inbox/conversations?teamId=none')).body.conversations
  assert.equal(none.length, 2)
})

test('a conversation moved to a team goes to its next person, stays with a member of the team, and can leave it', async () => {
  const { w, admin, teamId, memberIds, members, route, newCustomer, activitiesOf } = await routedWorld(2)
  await route({ rules: [] })
  const { id } = await newCustomer(1)
  const place = `/inbox/conversations/${id}`
  const move = async (body: object) => (await admin.call('PATCH', place, body)).body.conversation
  await move({ assignedTo: admin.userId })
  const moved = await move({ teamId })
  assert.deepEqual([moved.teamName, moved.assignedTo], ['Sales', memberIds[0]])
  await move({ teamId: null })
  await move({ assignedTo: memberIds[1] })
  assert.equal((await move({ teamId })).assignedTo, memberIds[1], 'is of the team')
  assert.equal((await move({ teamId: null })).assignedTo, memberIds[1])
  assert.equal((await move({ teamId, assignedTo: memberIds[0] })).assignedTo, memberIds[0], 'as asked')
  const kinds = (await activitiesOf(id)).map(([kind, , reason]) => [kind, reason])
  assert.ok(kinds.some(([kind, reason]) => kind === 'assignee' && reason === 'round_robin'))
  const refused = await admin.call('PATCH', place, { teamId: w.workspaceId })
  assert.deepEqual([refused.status, refused.body.data.issues[0].path], [400, 'teamId'])
  assert.equal((await members[0]?.call('PATCH', place, { teamId: null }))?.status, 200)
})

test('a deleted team leaves its conversations with their people, and is cleared from them in steps', async () => {
  const { w, admin, teamId, memberIds, newCustomer, conversationOf, activitiesOf } = await routedWorld(1)
  const { id } = await newCustomer(1)
  assert.equal((await admin.call('DELETE', `/teams/${teamId}`)).status, 200)
  const after = await newCustomer(2)
  assert.deepEqual([after.owner, after.teamId, after.assignedTo], ['human', null, null])
  w.clock.advance(1000)
  assert.equal(await clearRemovedTeams(w), 1)
  assert.equal(await clearRemovedTeams(w), 0)
  const { teamId: cleared, assignedTo } = await conversationOf(id)
  assert.deepEqual([cleared, assignedTo], [null, memberIds[0]])
  assert.deepEqual((await activitiesOf(id)).at(-1), ['team', null, null])
})

test('a removed member leaves the teams and gets no more conversations', async () => {
  const { w, admin, memberIds, newCustomer } = await routedWorld(2)
  const owner = await signedInMember(w, 'owner')
  assert.equal((await owner.call('DELETE', `/members/${memberIds[0]}`)).status, 200)
  const { teams } = (await admin.call('GET', '/teams')).body
  assert.deepEqual(teams[0].memberIds, [memberIds[1]])
  for (const n of [1, 2]) assert.equal((await newCustomer(n)).assignedTo, memberIds[1])
})
