import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agentSenderReader } from '../../../src/app/agents.ts'
import { sendDeps } from '../../../src/app/inbox.ts'
import type { NewKeyInput } from '../../../src/auth/api-keys/change-key.ts'
import { sendDueMessages } from '../../../src/inbox/scheduled/send-due.ts'
import { addTemplate, agentsWorld, template } from '../../support/agents/agents-world.ts'
import { signedInMember, type TestMember } from '../../support/member.ts'

const hourMs = 3_600_000
const text = 'Did everything arrive?'

interface Settings {
  hours?: number
  body?: object
  cancels?: boolean
}

async function scheduledWorld(key: Partial<NewKeyInput> = {}) {
  const w = await agentsWorld(key)
  const member = await signedInMember(w)
  const { id } = await w.customerWrites('Where is my order?')
  const at = (hours: number) => new Date(w.clock.now().getTime() + hours * hourMs).toISOString()
  const path = `/inbox/conversations/${id}/scheduled-messages`
  const followUps = async () => (await member.call('GET', `/inbox/conversations/${id}/follow-ups`)).body
  return {
    ...w,
    member,
    id,
    at,
    path,
    followUps,
    shown: async () => (await followUps()).scheduled,
    schedule: ({ hours = 2, body = { text }, cancels = true }: Settings = {}) =>
      member.call('POST', path, { ...body, dueAt: at(hours), cancelIfCustomerWrites: cancels }),
    run: () => sendDueMessages({ ...sendDeps(w), readAgentSender: agentSenderReader(w) }),
    statusOf: async (scheduledId: string) => {
      const [row] = await w.db.sql<[{ status: string; reason: string | null; message_id: string | null }]>`
        select status, reason, message_id from scheduled_messages
        where workspace_id = ${w.workspaceId} and id = ${scheduledId}`
      return row
    },
  }
}

const noticesOf = async (member: TestMember) =>
  (await member.call('GET', '/notices')).body.notices.filter((one: { kind: string }) => one.kind === 'scheduled')

test('a message is sent once when it is due, in the name of the person, and not before', async () => {
  const w = await scheduledWorld()
  const made = await w.schedule()
  assert.deepEqual([made.status, made.body.scheduled.status], [201, 'scheduled'], JSON.stringify(made.body))
  await w.run()
  assert.equal(w.sent().length, 0)
  w.clock.advance(2 * hourMs)
  await Promise.all([w.run(), w.run()])
  await w.run()
  assert.equal(w.sent().length, 1)
  const { status, message_id } = await w.statusOf(made.body.scheduled.id)
  assert.equal(status, 'sent')
  const [last] = (await w.member.call('GET', `/inbox/conversations/${w.id}/timeline`)).body.items.slice(-1)
  const { message } = (await w.member.call('GET', `/inbox/conversations/${w.id}/timeline`)).body.items.find(
    (one: { id: string }) => one.id === message_id,
  )
  assert.deepEqual([message.text, message.actor.id, last !== undefined], [text, w.member.userId, true])
  assert.deepEqual(await w.shown(), [])
})

test('a message of the customer cancels it, without a statement when it arrives', async () => {
  const w = await scheduledWorld()
  const { body } = await w.schedule()
  const { body: kept } = await w.schedule({ body: { text: 'Sent anyway' }, cancels: false })
  w.clock.advance(1_000)
  await w.customerWrites('It is here!')
  assert.deepEqual(
    (await w.shown()).map((one: { status: string; reason: string | null }) => [one.status, one.reason]),
    [
      ['cancelled', 'CUSTOMER_WROTE'],
      ['scheduled', null],
    ],
  )
  w.clock.advance(2 * hourMs)
  await w.run()
  assert.equal((await w.statusOf(body.scheduled.id)).status, 'cancelled')
  assert.equal((await w.statusOf(kept.scheduled.id)).status, 'sent')
  assert.deepEqual(
    w.sent().map(({ order }) => order.message),
    [{ kind: 'text', text: 'Sent anyway', previewUrl: false }],
  )
  assert.deepEqual(await noticesOf(w.member), [], 'people get no notification of what they asked for')
})

test('a message that cannot be sent is held with the reason, its author is notified once, and it can be sent later', async () => {
  const w = await scheduledWorld()
  const { body } = await w.schedule({ hours: 25, cancels: false })
  w.clock.advance(25 * hourMs)
  await w.run()
  await w.run()
  const { id } = body.scheduled
  assert.deepEqual([await w.statusOf(id).then((one) => one.reason), w.sent().length], ['WINDOW_CLOSED', 0])
  const notices = await noticesOf(w.member)
  assert.deepEqual(
    notices.map((one: { reason: string; conversation: { id: string } }) => [one.reason, one.conversation.id]),
    [['WINDOW_CLOSED', w.id]],
  )
  assert.deepEqual(
    (await w.shown()).map((one: { status: string }) => one.status),
    ['held'],
  )
  await w.customerWrites('Hello?')
  w.clock.advance(1_000)
  assert.equal((await w.member.call('PATCH', `${w.path}/${id}`, { dueAt: null })).status, 200)
  await w.run()
  assert.deepEqual([(await w.statusOf(id)).status, w.sent().length], ['sent', 1])
})

test('a text that the closed window would stop for certain is refused, and a template is not', async () => {
  const w = await scheduledWorld()
  await addTemplate(w)
  const refused = await w.schedule({ hours: 25 })
  assert.deepEqual([refused.status, refused.body.data.code], [422, 'WINDOW_CLOSED'])
  const late = await w.schedule({ hours: 31 * 24, body: { template } })
  assert.equal(late.status, 400)
  const both = await w.schedule({ body: { text, template } })
  assert.equal(both.status, 400)
  const { body } = await w.schedule({ hours: 25, body: { template } })
  assert.equal(body.scheduled.template.name, template.name)
  w.clock.advance(25 * hourMs)
  await w.run()
  assert.deepEqual([(await w.statusOf(body.scheduled.id)).status, w.sent().length], ['sent', 1])
})

test('the time can be changed, and a message cancelled; the same message is scheduled once', async () => {
  const w = await scheduledWorld()
  const { body: first } = await w.schedule()
  const { body: again } = await w.schedule()
  assert.equal(again.scheduled.id, first.scheduled.id)
  const moved = await w.member.call('PATCH', `${w.path}/${first.scheduled.id}`, { dueAt: w.at(5) })
  assert.equal(moved.body.scheduled.dueAt, w.at(5))
  w.clock.advance(3 * hourMs)
  await w.run()
  assert.equal(w.sent().length, 0)
  const cancel = () => w.member.call('POST', `${w.path}/${first.scheduled.id}/cancel`)
  assert.deepEqual([(await cancel()).status, (await cancel()).body.scheduled.status], [200, 'cancelled'])
  w.clock.advance(3 * hourMs)
  await w.run()
  assert.equal(w.sent().length, 0)
  assert.equal((await w.member.call('PATCH', `${w.path}/${first.scheduled.id}`, { dueAt: null })).status, 409)
})

test('20 messages can wait in a conversation', async () => {
  const w = await scheduledWorld()
  for (let n = 1; n <= 20; n++) assert.equal((await w.schedule({ hours: n })).status, 201)
  assert.equal((await w.schedule({ hours: 21 })).status, 409)
})

test('what the platform refuses is failed, and its author notified', async () => {
  const w = await scheduledWorld()
  const { body } = await w.schedule()
  // Not just the next one: messages of the other workspaces of this file may be due as well.
  w.platform.behave = () => ({ refuse: '131026' })
  w.clock.advance(2 * hourMs)
  await w.run()
  const { status, reason } = await w.statusOf(body.scheduled.id)
  assert.deepEqual([status, reason], ['failed', '131026'])
  assert.equal((await noticesOf(w.member)).length, 1)
})

test('an agent schedules and cancels in its own conversations, and sees what became of it', async () => {
  const w = await scheduledWorld()
  const scheduled = await w.callTool('schedule_message', { conversation_id: w.id, at: w.at(2), text })
  assert.deepEqual([scheduled.status, scheduled.body.was_new], [200, true], JSON.stringify(scheduled.body))
  const { body: again } = await w.callTool('schedule_message', { conversation_id: w.id, at: w.at(2), text })
  assert.equal(again.was_new, false)
  const other = await w.callTool('schedule_message', { conversation_id: w.id, at: w.at(3), text })
  const cancelled = await w.callTool('cancel_scheduled', {
    ...{ conversation_id: w.id, scheduled_id: other.body.scheduled.id },
  })
  assert.equal(cancelled.body.scheduled.status, 'cancelled')
  w.clock.advance(2 * hourMs)
  await w.run()
  assert.equal(w.sent().length, 1)
  const { body: held } = await w.callTool('schedule_message', { conversation_id: w.id, at: w.at(2), text })
  await w.takeOver(w.id)
  w.clock.advance(2 * hourMs)
  await w.run()
  const { body: read } = await w.callTool('read_conversation', { conversation_id: w.id })
  assert.deepEqual(
    read.scheduled.map((one: { id: string; status: string; reason: string }) => [one.id, one.status, one.reason]),
    [[held.scheduled.id, 'held', 'OWNER_MISMATCH']],
  )
  assert.equal(w.sent().length, 1)
  const refused = await w.callTool('schedule_message', { conversation_id: w.id, at: w.at(2), text })
  assert.equal(refused.status, 409)
})

test('an agent gets a message of its own that was not sent as work, with the reason, and nobody else’s', async () => {
  const w = await scheduledWorld()
  const later = { conversation_id: w.id, at: w.at(26), text, cancel_if_customer_writes: false }
  const { body: scheduled } = await w.callTool('schedule_message', later)
  await w.schedule({ hours: 26, body: { text: 'From a person' }, cancels: false })
  const { body: before } = await w.callTool('wait_for_work', { wait: 0 })
  assert.deepEqual([before.work[0].why, before.work[0].scheduled], ['customer_wrote', null])
  w.clock.advance(26 * hourMs)
  await w.run()
  const { body: after } = await w.callTool('wait_for_work', { wait: 0, cursor: before.next_cursor })
  const [{ why, scheduled: unsent }] = after.work
  assert.deepEqual(
    [why, unsent.id, unsent.status, unsent.reason],
    ['scheduled_failed', scheduled.scheduled.id, 'held', 'WINDOW_CLOSED'],
  )
  assert.match(after.next.join(' '), /not sent: WINDOW_CLOSED/)
  const events = (await w.events(w.id)).filter(({ name }) => name === 'inbox.scheduled_message.failed')
  assert.deepEqual(
    events.map(({ payload }) => [payload.key_id, payload.error_code]),
    [[w.agent.id, 'WINDOW_CLOSED']],
  )
  const { body: none } = await w.callTool('wait_for_work', { wait: 0, cursor: after.next_cursor })
  assert.deepEqual(none.work, [])
})

test('an agent’s message that a person must approve becomes one draft when it is due', async () => {
  const always = { always: true, outsideHours: false, firstAnswers: false, labelIds: [], amountFrom: null }
  const w = await scheduledWorld({ approval: always })
  const { body } = await w.callTool('schedule_message', { conversation_id: w.id, at: w.at(2), text })
  w.clock.advance(2 * hourMs)
  await Promise.all([w.run(), w.run()])
  await w.run()
  assert.deepEqual([(await w.statusOf(body.scheduled.id)).status, w.sent().length], ['drafted', 0])
  const { draft } = (await w.member.call('GET', `/inbox/conversations/${w.id}/draft`)).body
  assert.equal(draft.text, text)
  const approved = await w.member.call('POST', `/inbox/conversations/${w.id}/drafts/${draft.id}/approve`, {})
  assert.deepEqual([approved.status, w.sent().length], [202, 1], JSON.stringify(approved.body))
})

test('messages of keys that ended and people who left are held, and the team is notified', async () => {
  const w = await scheduledWorld()
  const admin = await signedInMember(w, 'admin')
  const { body: ofAgent } = await w.callTool('schedule_message', { conversation_id: w.id, at: w.at(2), text })
  const { body: ofPerson } = await w.schedule({ hours: 3, cancels: false })
  await w.db.sql`delete from members where workspace_id = ${w.workspaceId} and user_id = ${w.member.userId}`
  await w.db.sql`update api_keys set revoked_at = ${w.clock.now()} where id = ${w.agent.id}`
  w.clock.advance(3 * hourMs)
  await w.run()
  assert.equal((await w.statusOf(ofAgent.scheduled.id)).reason, 'KEY_ENDED')
  assert.equal((await w.statusOf(ofPerson.scheduled.id)).reason, 'SENDER_LEFT')
  assert.deepEqual([w.sent().length, (await noticesOf(admin)).length], [0, 2])
})
