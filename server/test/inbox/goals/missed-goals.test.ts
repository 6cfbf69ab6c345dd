import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reindexIdle } from '../../../src/inbox/conversation/activity-columns.ts'
import { runGoals, watchGoals } from '../../../src/inbox/goals/missed-goals.ts'
import { customerMessage, marina } from '../../support/inbox/inbox-world.ts'
import { signedInMember } from '../../support/member.ts'
import { notificationsWorld } from '../../support/notifications/notifications-world.ts'

const minuteMs = 60_000
const goals = { firstAnswer: 10, nextAnswer: 20, resolution: 60, priorities: {} }

/** A customer who has just written to a workspace with goals. */
async function goalsWorld(serviceGoals: object = goals) {
  const all = await notificationsWorld()
  const { w, place, ana } = all
  const admin = await signedInMember(w, 'admin')
  assert.equal((await admin.call('PATCH', '', { serviceGoals })).status, 200)
  await runGoals(w)
  const goal = async () => (await ana.call('GET', place)).body.conversation.goal
  const missed = async () => {
    const rows = await w.db.sql<{ goal: string }[]>`
      select goal from missed_goals where workspace_id = ${w.workspaceId} order by due_at`
    return rows.map(({ goal }) => goal)
  }
  const answer = (text: string) =>
    ana.call('POST', `${place}/messages`, { kind: 'text', text }, { 'idempotency-key': text })
  return { ...all, admin, goal, missed, answer }
}

test('goals count down until they are reached, and begin again', async () => {
  const { w, goal, answer } = await goalsWorld()
  const first = await goal()
  assert.deepEqual([first.goal, first.isMissed], ['first_answer', false])
  assert.equal(Date.parse(first.dueAt) - w.clock.now().getTime(), 10 * minuteMs - 1000)
  assert.equal((await answer('Hello')).status, 202)
  assert.equal((await goal()).goal, 'resolution')
  w.clock.advance(minuteMs)
  await w.customerWrites('And now?')
  const next = await goal()
  assert.deepEqual([next.goal, Date.parse(next.dueAt) - w.clock.now().getTime()], ['next_answer', 20 * minuteMs])
})

test('a missed goal is recorded once, by any number of workers, and everybody is notified', async () => {
  const { w, id, place, ana, bea, goal, missed } = await goalsWorld()
  w.clock.advance(11 * minuteMs)
  await Promise.all(Array.from({ length: 4 }, () => runGoals(w)))
  await runGoals(w)
  assert.deepEqual(await missed(), ['first_answer'])
  assert.deepEqual([await ana.kinds(), await bea.kinds()], [['goal'], ['goal']])
  const [{ conversation }] = await ana.listNotifications()
  assert.equal(conversation.id, id)
  assert.deepEqual([(await goal()).goal, (await goal()).isMissed], ['first_answer', true])
  const { items } = (await ana.call('GET', `${place}/timeline`)).body
  const activities = items.flatMap((item: { activity?: { kind: string; to: string } }) => item.activity ?? [])
  assert.deepEqual(
    activities.map(({ kind, to }: { kind: string; to: string }) => [kind, to]),
    [['goal', 'first_answer']],
  )
})

test('only the assignee is notified, and the list shows what is overdue until it is answered', async () => {
  const { w, id, place, ana, bea, answer } = await goalsWorld()
  await ana.call('PATCH', place, { assignedTo: bea.userId })
  const other = { ...marina, phone: '5511980000000' }
  w.clock.advance(9 * minuteMs)
  await w.deliver(customerMessage({ at: w.clock.now(), customer: other }))
  w.clock.advance(2 * minuteMs)
  await runGoals(w)
  assert.deepEqual([await ana.kinds(), await bea.kinds()], [[], ['goal', 'assigned']])
  const listed = async (query: string): Promise<string[]> =>
    (await ana.call('GET', `/inbox/conversations?${query}`)).body.conversations.map((one: { id: string }) => one.id)
  for (const isIdle of [false, true]) {
    if (isIdle) {
      w.clock.advance(minuteMs)
      await reindexIdle(w)
    }
    assert.deepEqual(await listed('overdue=true'), [id])
    const due = await listed('sort=due')
    assert.deepEqual([due.length, due[1]], [2, id], 'its resolution comes after the first answer of the other')
  }
  await answer('Sorry')
  assert.deepEqual(await listed('overdue=true'), [])
})

test('the watch finds what is due without a message, also for conversations that changed just now', async () => {
  const { w } = await goalsWorld()
  const watch = watchGoals(w)
  assert.equal(await watch.isDue(), false)
  w.clock.advance(10 * minuteMs)
  assert.equal(await watch.isDue(), true)
  await runGoals(w)
  assert.equal(await watch.isDue(), false)
})

test('resolving in time misses nothing, and ends the goals', async () => {
  const { w, place, ana, answer, goal, missed } = await goalsWorld()
  await answer('Done')
  await ana.call('PATCH', place, { status: 'resolved' })
  assert.equal(await goal(), null)
  w.clock.advance(120 * minuteMs)
  await runGoals(w)
  assert.deepEqual(await missed(), [])
})

test('changed goals apply to customers who wait already, without notifying twice', async () => {
  const { w, admin, goal, missed, ana } = await goalsWorld({ ...goals, resolution: null })
  w.clock.advance(11 * minuteMs)
  await runGoals(w)
  const set = async (firstAnswer: number) => {
    await admin.call('PATCH', '', { serviceGoals: { ...goals, resolution: null, firstAnswer } })
    await runGoals(w)
  }
  await set(30)
  assert.deepEqual([(await goal()).isMissed, await missed()], [false, ['first_answer']])
  w.clock.advance(20 * minuteMs)
  await runGoals(w)
  assert.equal((await goal()).isMissed, true)
  assert.deepEqual([await missed(), await ana.kinds()], [['first_answer'], ['goal']])
  await admin.call('PATCH', '', { serviceGoals: null })
  await runGoals(w)
  assert.equal(await goal(), null)
})

test('the priority is set by people, filters and sorts the list, and chooses the goals', async () => {
  const { w, id, place, ana, goal } = await goalsWorld({
    ...goals,
    priorities: { urgent: { firstAnswer: 2, nextAnswer: null, resolution: null } },
  })
  const other = await w.customerWrites('Hi', { customer: { ...marina, phone: '5511980000000' } })
  assert.equal((await ana.call('PATCH', place, { priority: 'soon' })).status, 400)
  const { status, body } = await ana.call('PATCH', place, { priority: 'urgent' })
  assert.deepEqual([status, body.conversation.priority], [200, 'urgent'])
  assert.equal(Date.parse((await goal()).dueAt) - w.clock.now().getTime(), 2 * minuteMs - 1000)
  await ana.call('PATCH', `/inbox/conversations/${other.id}`, { priority: 'low' })
  const listed = async (query: string) =>
    (await ana.call('GET', `/inbox/conversations?${query}`)).body.conversations.map((one: { id: string }) => one.id)
  assert.deepEqual(await listed('priority=urgent'), [id])
  assert.deepEqual(await listed('sort=priority'), [id, other.id])
  const first = (await ana.call('GET', '/inbox/conversations?sort=priority&limit=1')).body
  assert.deepEqual(await listed(`sort=priority&limit=1&cursor=${first.cursor}`), [other.id])
  await ana.call('PATCH', place, { priority: null })
  assert.deepEqual(await listed('sort=priority'), [other.id])
  const { items } = (await ana.call('GET', `${place}/timeline`)).body
  assert.deepEqual(
    items.flatMap((item: { activity?: { kind: string; from: string; to: string } }) =>
      item.activity === undefined ? [] : [[item.activity.kind, item.activity.from, item.activity.to]],
    ),
    [
      ['priority', null, 'urgent'],
      ['priority', 'urgent', null],
    ],
  )
})

test('business hours and holidays stop the clock', async () => {
  const { w, admin, goal } = await goalsWorld()
  const span = [{ from: '11:00', to: '12:05' }]
  const week = {
    ...{ monday: span, tuesday: span, wednesday: span, thursday: span, friday: span, saturday: span, sunday: span },
  }
  await admin.call('PATCH', '', {
    hours: { timeZone: 'UTC', week },
    holidays: [{ name: 'Feast', from: '2026-03-11', to: '2026-03-11', calendar: null }],
  })
  assert.equal(w.clock.now().toISOString().slice(0, 10), '2026-03-10')
  await runGoals(w)
  const { dueAt } = await goal()
  const asked = Date.parse((await w.conversations())[0].last_message_at)
  const leftToday = Date.parse('2026-03-10T12:05:00Z') - asked
  const expected = Date.parse('2026-03-12T11:00:00Z') + 10 * minuteMs - Math.max(0, leftToday)
  assert.equal(Date.parse(dueAt), expected)
})
