import assert from 'node:assert/strict'
import { test } from 'node:test'
import { notifyOutages } from '../../src/channels/health/health.ts'
import { applyPlatformSignal } from '../../src/channels/health/platform-signals.ts'
import { sendWaitingReminders } from '../../src/inbox/assignment/waiting-reminder.ts'
import { customerMessage, marina } from '../support/inbox/inbox-world.ts'
import { signedInMember } from '../support/member.ts'
import { colleague, notificationsWorld } from '../support/notifications/notifications-world.ts'

const minuteMs = 60_000
const office = (from: string, to: string) => {
  const day = [{ from, to }]
  const [monday, tuesday, wednesday, thursday, friday, saturday, sunday] = Array.from({ length: 7 }, () => day)
  return { timeZone: 'UTC', week: { monday, tuesday, wednesday, thursday, friday, saturday, sunday } }
}

test('a customer who waits longer than the limit causes one notification to all members', async () => {
  const { w, id, ana, bea } = await notificationsWorld()
  w.clock.advance(13 * minuteMs)
  await sendWaitingReminders(w.db, w.clock)
  assert.deepEqual(await ana.kinds(), [])
  w.clock.advance(2 * minuteMs)
  for (let n = 0; n < 3; n++) await sendWaitingReminders(w.db, w.clock)
  assert.deepEqual([await ana.kinds(), await bea.kinds()], [['waiting'], ['waiting']])
  const [{ conversation, actor }] = await bea.listNotifications()
  assert.deepEqual([conversation.id, actor], [id, null])
})

test('only the assignee is notified', async () => {
  const { w, place, ana, bea } = await notificationsWorld()
  await ana.call('PATCH', place, { assignedTo: ana.userId })
  w.clock.advance(20 * minuteMs)
  await sendWaitingReminders(w.db, w.clock)
  assert.deepEqual([await ana.kinds(), await bea.kinds()], [['waiting'], []])
})

test('two concurrent workers notify once', async () => {
  const { w, ana } = await notificationsWorld()
  w.clock.advance(20 * minuteMs)
  await Promise.all(Array.from({ length: 4 }, () => sendWaitingReminders(w.db, w.clock)))
  assert.deepEqual(await ana.kinds(), ['waiting'])
})

test('an answer marks the notification as read, and a new wait causes a new one', async () => {
  const { w, place, ana } = await notificationsWorld()
  w.clock.advance(20 * minuteMs)
  await sendWaitingReminders(w.db, w.clock)
  const sent = await ana.call(
    'POST',
    `${place}/messages`,
    { kind: 'text', text: 'Here I am' },
    { 'idempotency-key': 'a' },
  )
  assert.equal(sent.status, 202)
  await sendWaitingReminders(w.db, w.clock)
  assert.deepEqual(await ana.listNotifications('?unread=true'), [])
  w.clock.advance(minuteMs)
  await w.customerWrites('And now?')
  w.clock.advance(16 * minuteMs)
  await sendWaitingReminders(w.db, w.clock)
  assert.deepEqual(await ana.kinds(), ['waiting', 'waiting'])
})

test('outside business hours nothing is sent until they begin', async () => {
  const { w, ana } = await notificationsWorld()
  const admin = await signedInMember(w, 'admin')
  const hour = w.clock.now().getUTCHours()
  assert.ok(hour < 20)
  const at = (n: number) => `${String(n).padStart(2, '0')}:00`
  assert.equal((await admin.call('PATCH', '', { hours: office(at(hour + 2), at(hour + 3)) })).status, 200)
  w.clock.advance(30 * minuteMs)
  await sendWaitingReminders(w.db, w.clock)
  assert.deepEqual(await ana.kinds(), [])
  w.clock.advance(100 * minuteMs)
  await sendWaitingReminders(w.db, w.clock)
  assert.deepEqual(await ana.kinds(), ['waiting'])
})

test('a workspace can set the limit or turn it off', async () => {
  const { w, ana } = await notificationsWorld()
  const admin = await signedInMember(w, 'admin')
  const set = async (answerGoalMinutes: unknown) => (await admin.call('PATCH', '', { answerGoalMinutes })).status
  assert.deepEqual([await set(0), await set(10_081), await set(null)], [400, 400, 200])
  w.clock.advance(60 * minuteMs)
  await sendWaitingReminders(w.db, w.clock)
  assert.deepEqual(await ana.kinds(), [])
  assert.equal(await set(30), 200)
  await sendWaitingReminders(w.db, w.clock)
  assert.deepEqual(await ana.kinds(), ['waiting'])
})

test('many customers who wait at once are one notification with their number', async () => {
  const { w, ana } = await notificationsWorld()
  for (let n = 0; n < 9; n++) {
    const customer = { ...marina, phone: `55119${String(80_000_000 + n)}` }
    await w.deliver(customerMessage({ at: w.clock.now(), customer }))
  }
  w.clock.advance(20 * minuteMs)
  await sendWaitingReminders(w.db, w.clock)
  await sendWaitingReminders(w.db, w.clock)
  const told = await ana.listNotifications()
  assert.deepEqual(
    told.map(({ kind, count, conversation }) => [kind, count, conversation]),
    [['waiting', 10, null]],
  )
})

test('a connection that is down for a minute causes one notification per outage; one that never worked causes none', async () => {
  const { w, ana } = await notificationsWorld()
  const later = await colleague(w)
  const never = await w.addConnection()
  await w.db.sql`update connections set last_event_in_at = null, last_event_out_at = null where id = ${never}`
  await w.db.sql`update connections set last_event_in_at = ${w.clock.now()} where id = ${w.connectionId}`
  const signal = (id: string, available: boolean) =>
    applyPlatformSignal(
      w,
      { workspaceId: w.workspaceId, id },
      {
        type: 'connection_state',
        available,
        reason: 'platform_error_190',
      },
    )
  const look = async () => {
    w.clock.advance(2 * minuteMs)
    for (let n = 0; n < 2; n++) await notifyOutages(w.db, w.clock)
  }
  await signal(w.connectionId, false)
  await signal(never, false)
  await notifyOutages(w.db, w.clock)
  assert.deepEqual(await ana.kinds(), [])
  await look()
  assert.deepEqual([await ana.kinds(), await later.kinds()], [['connection'], ['connection']])
  assert.equal((await ana.listNotifications())[0].connection.id, w.connectionId)
  await signal(w.connectionId, true)
  await look()
  await signal(w.connectionId, false)
  await look()
  assert.deepEqual(await ana.kinds(), ['connection', 'connection'])
})
