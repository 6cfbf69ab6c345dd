import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { ChannelEvent, ThreadOwner } from '../../../src/channels/channel-event.ts'
import { agentsWorld } from '../../support/agents/agents-world.ts'
import { conversationPath, type InboxWorld, marina } from '../../support/inbox/inbox-world.ts'
import { signedInMember } from '../../support/member.ts'

async function standbyWorld() {
  const w = await agentsWorld()
  const member = await signedInMember(w)
  const work = async (cursor?: string) =>
    (await w.callTool('wait_for_work', { wait: 0, ...(cursor === undefined ? {} : { cursor }) })).body
  return {
    ...w,
    member,
    work,
    workIds: async () =>
      (await work()).work.map(({ conversation }: { conversation: { id: string } }) => conversation.id),
    answer: (conversation_id: string) => w.callTool('answer', { conversation_id, text: 'Hello' }),
    shown: async (id: string) => (await member.call('GET', `/inbox/conversations/${id}`)).body.conversation,
    /** The customer writes to the other app. */
    writesToOther: (text: string) => w.customerWrites(text, { isStandby: true }),
    otherSays: (text: string) => w.deliver(otherApp(w, text)),
    handOver: (owner: ThreadOwner | null, at = w.clock.now()) =>
      w.deliver({ type: 'thread_control', customer: marina, owner, at }),
    standbyEvents: async (id: string) =>
      (await w.events(id)).flatMap(({ name, payload }) =>
        name === 'inbox.conversation.standby_changed' ? [payload.thread_owner] : [],
      ),
  }
}

const otherApp = ({ clock }: InboxWorld, text: string): ChannelEvent => ({
  ...{ type: 'echo', externalId: `wamid.${randomUUID()}`, customer: marina, kind: 'text', text, isStandby: true },
  at: clock.now(),
})

test('what others answer is in the history, but is no work of agents and waits for nobody', async () => {
  const w = await standbyWorld()
  const { next_cursor: before } = await w.work()
  const { id } = await w.writesToOther('Do you have lamps?')
  w.clock.advance(1000)
  await w.otherSays('Yes, three kinds.')
  assert.deepEqual(await w.texts(id), ['Do you have lamps?', 'Yes, three kinds.'])
  const shown = await w.shown(id)
  assert.deepEqual([shown.standbyFor, shown.unansweredSince, shown.unreadCount], ['other_app', null, 1])
  assert.equal(shown.owner, `agent:${w.agent.id}`, 'the other app is no owner of ours')
  assert.deepEqual([await w.workIds(), (await w.work(before)).work], [[], []])
  const { body } = await w.callTool('read_conversation', { conversation_id: id })
  assert.equal(body.conversation.stands_by, true)
  assert.match(body.next[0], /^Another automation on this number/)
  assert.deepEqual(await w.standbyEvents(id), ['other_app'])
})

test('an agent can neither send nor show typing, in either version of the API, and reads without a receipt', async () => {
  const w = await standbyWorld()
  const { id } = await w.writesToOther('Hi')
  const { status, body } = await w.answer(id)
  assert.deepEqual([status, body.code, body.thread_owner], [409, 'ON_STANDBY', 'other_app'])
  assert.match(body.next[0], /^Leave this conversation alone/)
  const v1 = await w.call('POST', `${conversationPath(id)}/messages`, {
    key: w.agent.value,
    headers: { 'idempotency-key': randomUUID() },
    body: { kind: 'text', text: 'Hello' },
  })
  assert.deepEqual([v1.status, v1.body.data.code], [409, 'ON_STANDBY'])
  assert.equal((await w.callTool('seen', { conversation_id: id })).body.is_typing_shown, false)
  assert.equal((await w.member.call('POST', `/inbox/conversations/${id}/read`)).status, 200)
  assert.deepEqual(
    [w.sent().length, w.platform.reads.filter(({ connectionId }) => connectionId === w.connectionId)],
    [0, []],
  )
})

test('a handover to us is work: the customer waits from then on', async () => {
  const w = await standbyWorld()
  const { id } = await w.writesToOther('A person, please')
  await w.otherSays('One moment.')
  const { next_cursor } = await w.work()
  w.clock.advance(5000)
  await w.handOver(null)
  const { work } = await w.work(next_cursor)
  assert.deepEqual(
    work.map(({ why, conversation }: { why: string; conversation: { id: string } }) => [why, conversation.id]),
    [['customer_wrote', id]],
  )
  assert.equal((await w.shown(id)).unansweredSince, w.clock.now().toISOString())
  assert.equal((await w.answer(id)).status, 200)
})

test('an agent who is given a conversation of others has work only when it is ours again', async () => {
  const w = await standbyWorld()
  const { id } = await w.writesToOther('Hi')
  const place = `/inbox/conversations/${id}`
  await w.member.call('POST', `${place}/take-over`)
  const { next_cursor: before } = await w.work()
  const note = { summary: 'Offer the blue one.' }
  assert.equal((await w.member.call('POST', `${place}/hand-back`, { keyId: w.agent.id, note })).status, 200)
  const { work, next_cursor } = await w.work(before)
  assert.deepEqual([work, await w.workIds()], [[], []])
  w.clock.advance(1000)
  await w.handOver(null)
  const [due] = (await w.work(next_cursor)).work
  assert.deepEqual([due.conversation.id, due.handover.summary], [id, note.summary])
})

test('a message to us is answered as always, though others had the conversation before', async () => {
  const w = await standbyWorld()
  const { id } = await w.writesToOther('Hi')
  w.clock.advance(2000)
  await w.customerWrites('And you?')
  assert.equal((await w.shown(id)).standbyFor, null)
  assert.deepEqual(await w.workIds(), [id])
  assert.deepEqual(await w.standbyEvents(id), ['other_app', null])
})

test('a conversation that is taken from us is no work any more', async () => {
  const w = await standbyWorld()
  const { id } = await w.customerWrites('Hi')
  assert.deepEqual(await w.workIds(), [id])
  w.clock.advance(2000)
  await w.handOver('escalation')
  assert.deepEqual([(await w.shown(id)).standbyFor, await w.workIds()], ['escalation', []])
  assert.equal((await w.answer(id)).body.thread_owner, 'escalation')
})

test('a person who answers takes the conversation back, and copies of that second do not take it again', async () => {
  const w = await standbyWorld()
  const { id } = await w.writesToOther('Hi')
  w.clock.advance(2000)
  const said = { kind: 'text', text: 'I am here' }
  const path = `/inbox/conversations/${id}/messages`
  const { status } = await w.member.call('POST', path, said, { 'idempotency-key': randomUUID() })
  assert.equal(status, 202)
  const shown = await w.shown(id)
  assert.deepEqual([shown.standbyFor, shown.owner, shown.held], [null, 'human', true])
  await w.writesToOther('a copy of the same second as our answer')
  assert.equal((await w.shown(id)).standbyFor, null)
})

test('repeated and late reports change nothing', async () => {
  const w = await standbyWorld()
  const { id } = await w.customerWrites('Hi')
  const before = w.clock.now()
  w.clock.advance(5000)
  await w.handOver('escalation')
  await w.handOver('escalation')
  await w.handOver(null, before)
  assert.equal((await w.shown(id)).standbyFor, 'escalation')
  w.clock.advance(5000)
  await w.handOver(null)
  await w.handOver('escalation', before)
  const late = { customer: marina, isStandby: true, at: before }
  await w.customerWrites('Late', late)
  assert.equal((await w.shown(id)).standbyFor, null)
  assert.deepEqual(await w.standbyEvents(id), ['escalation', null])
  const { body } = await w.member.call('GET', `/inbox/conversations/${id}/timeline`)
  const activities = body.items.flatMap(({ activity }: { activity?: { kind: string; to: string | null } }) =>
    activity?.kind === 'standby' ? [activity.to] : [],
  )
  assert.deepEqual(activities, ['escalation', null])
})

test('24 hours after the customer wrote, nobody has the conversation', async () => {
  const w = await standbyWorld()
  const { id } = await w.writesToOther('Hi')
  w.clock.advance(24 * 3_600_000 + 1000)
  assert.equal((await w.shown(id)).standbyFor, null)
  assert.equal((await w.answer(id)).body.code, 'WINDOW_CLOSED')
})
