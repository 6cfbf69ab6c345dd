import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ChannelEvent, Customer } from '../../../src/channels/channel-event.ts'
import { findConsents } from '../../../src/consents/store.ts'
import { customerMessage, type InboxWorld, inboxWorld, marina } from '../../support/inbox/inbox-world.ts'
import { signedInMember, type TestMember } from '../../support/member.ts'
import { waitForNotifications } from '../../support/wait-for-notifications.ts'

const consentPath = (id: string): string => `/inbox/conversations/${id}/marketing-consent`

async function consentWorld() {
  const w = await inboxWorld()
  const member = await signedInMember(w, 'admin')
  return {
    ...w,
    member,
    consent: async (id: string) =>
      (await member.call('GET', `/inbox/conversations/${id}`)).body.conversation.marketingConsent,
    recorded: async (customer: Partial<Customer>) => {
      const keyring = await w.keyStore.keyring(w.workspaceId)
      const [consents] = await findConsents(w.db.sql, keyring, w.workspaceId, [
        { phone: null, userId: null, ...customer },
      ])
      return consents?.marketing?.decision ?? null
    },
    activities: (id: string) => activitiesOf(member, id),
    says: async (text: string, fields: Partial<Customer> = {}) => {
      w.clock.advance(60_000)
      return w.customerWrites(text, { customer: { ...marina, ...fields } })
    },
  }
}

async function activitiesOf(member: TestMember, id: string) {
  const { items } = (await member.call('GET', `/inbox/conversations/${id}/timeline`)).body
  return items.flatMap(({ activity }: { activity?: { kind: string; from: string; to: string; source: string } }) =>
    activity?.kind === 'consent' ? [`${activity.from} ${activity.to} ${activity.source}`] : [],
  )
}

const preference = (w: InboxWorld, customer: Partial<Customer>, isStopped: boolean): ChannelEvent => ({
  ...{ type: 'marketing_preference', isStopped, source: 'setting', at: w.clock.now() },
  customer: { ...marina, phone: null, ...customer },
})

test('a message that is a keyword opts out, and in again, with an event and an activity of the conversation', async () => {
  const w = await consentWorld()
  const { id } = await w.says('Start')
  assert.equal(await w.consent(id), null, 'a first start is no consent')
  await w.says('¡Bája!')
  const at = w.clock.now().toISOString()
  assert.deepEqual(await w.consent(id), { decision: 'opted_out', source: 'keyword', at })
  await w.says('Where does the bus stop?')
  await w.says('voltar')
  assert.equal((await w.consent(id)).decision, 'opted_in')
  assert.deepEqual(await w.activities(id), ['null opted_out keyword', 'opted_out opted_in keyword'])
  const events = (await w.events(id)).filter(({ name }) => name === 'inbox.conversation.consent_changed')
  assert.deepEqual(
    events.map(({ payload }) => [payload.decision, payload.source, payload.purpose]),
    [
      ['opted_out', 'keyword', 'marketing'],
      ['opted_in', 'keyword', 'marketing'],
    ],
  )
})

test('what a customer decides about updates is kept apart from marketing, and applies to later conversations', async () => {
  const w = await consentWorld()
  const { id } = await w.says('Hello')
  const set = (decision: string, purpose?: string) =>
    w.member.call('PUT', consentPath(id), { decision, ...(purpose !== undefined && { purpose }) })
  const shown = async () => {
    const { conversation } = (await w.member.call('GET', `/inbox/conversations/${id}`)).body
    return [conversation.marketingConsent?.decision ?? null, conversation.utilityConsent?.decision ?? null]
  }
  assert.equal((await set('opted_out', 'utility')).status, 200)
  assert.deepEqual(await shown(), [null, 'opted_out'])
  await set('opted_in')
  assert.deepEqual(await shown(), ['opted_in', 'opted_out'])
  await w.says('STOP')
  assert.deepEqual(await shown(), ['opted_out', 'opted_out'], 'a keyword is about marketing')
  const other = await w.addConnection()
  await w.deliverOn(other, customerMessage({ at: w.clock.now(), text: 'Hello' }))
  const { conversations } = (await w.member.call('GET', `/inbox/conversations?connectionId=${other}`)).body
  const copied = (await w.member.call('GET', `/inbox/conversations/${conversations[0].id}`)).body.conversation
  assert.deepEqual([copied.marketingConsent.decision, copied.utilityConsent.decision], ['opted_out', 'opted_out'])
  assert.equal((await w.member.call('DELETE', `${consentPath(id)}?purpose=utility`)).status, 200)
  assert.deepEqual(await shown(), ['opted_out', null])
  const events = (await w.events(id)).filter(({ name }) => name === 'inbox.conversation.consent_changed')
  assert.deepEqual(
    events.map(({ payload }) => `${payload.purpose} ${payload.decision}`),
    ['utility opted_out', 'marketing opted_in', 'marketing opted_out', 'utility null'],
  )
  const { items } = (await w.member.call('GET', `/inbox/conversations/${id}/timeline`)).body
  const purposes = items.flatMap(({ activity }: { activity?: { kind: string; purpose: string } }) =>
    activity?.kind === 'consent' ? [activity.purpose] : [],
  )
  assert.deepEqual(purposes, ['utility', 'marketing', 'marketing', 'utility'])
})

test('a redelivered keyword does not opt out again', async () => {
  const w = await consentWorld()
  w.clock.advance(1000)
  const stop = customerMessage({ at: w.clock.now(), text: 'STOP' })
  await w.deliver(stop)
  const { id } = await w.says('start')
  await w.deliver(stop)
  assert.equal((await w.consent(id)).decision, 'opted_in')
})

test("the workspace's keywords count: others do not, and none can mean two things", async () => {
  const w = await consentWorld()
  const change = async (body: object) => {
    const { status, body: answer } = await w.member.call('PATCH', '', body)
    return `${status} ${answer.data?.issues?.[0]?.path ?? answer.workspace?.optOutKeywords}`
  }
  assert.equal(await change({ optOutKeywords: ['Ende', 'ENDE!'] }), '400 optOutKeywords')
  assert.equal(await change({ optOutKeywords: ['Start'] }), '400 optInKeywords')
  assert.equal(await change({ optOutKeywords: ['!!!'] }), '400 optOutKeywords')
  assert.equal(await change({ optOutKeywords: ['x'.repeat(31)] }), '400 optOutKeywords[0]')
  assert.equal(await change({ optOutKeywords: ['Ende'] }), '200 Ende')
  await waitForNotifications(w.db)
  w.clock.advance(60_000)
  const { id } = await w.says('STOP')
  assert.equal(await w.consent(id), null)
  await w.says('ende')
  assert.equal((await w.consent(id)).decision, 'opted_out')
})

test('a decision applies to all connections of the customer, and to conversations that begin later', async () => {
  const w = await consentWorld()
  const [second, third] = [await w.addConnection(), await w.addConnection()]
  const { id } = await w.says('Hello')
  await w.deliverOn(second, customerMessage({ at: w.clock.now(), text: 'Hi' }))
  await w.says('STOP')
  w.clock.advance(60_000)
  await w.deliverOn(third, customerMessage({ at: w.clock.now(), text: 'Hey' }))
  const all = await w.conversations()
  assert.equal(all.length, 3)
  for (const one of all) assert.equal((await w.consent(one.id)).decision, 'opted_out', one.id)
  assert.equal((await w.member.call('PUT', consentPath(id), { decision: 'opted_in' })).status, 200)
  for (const one of all) assert.equal((await w.consent(one.id)).decision, 'opted_in')
})

test('a decision survives the merge of two conversations and a new number, and stays with the person', async () => {
  const w = await consentWorld()
  const hidden = { userId: 'BR.1', phone: null }
  await w.deliver(preference(w, hidden, true))
  assert.equal(await w.recorded({ userId: 'BR.1' }), 'opted_out', 'without any conversation')
  const { id } = await w.says('By phone')
  assert.equal(await w.consent(id), null)
  await w.deliver(customerMessage({ at: w.clock.now(), customer: { ...marina, ...hidden }, text: 'By id' }))
  w.clock.advance(1000)
  await w.deliver(customerMessage({ at: w.clock.now(), customer: { ...marina, userId: 'BR.1' }, text: 'Both' }))
  assert.equal((await w.consent(id)).decision, 'opted_out')
  assert.equal(await w.recorded({ phone: marina.phone }), 'opted_out', 'now also by phone')

  const moved = { ...marina, userId: 'BR.1', phone: '5581977770000' }
  await w.deliver({
    type: 'customer_changed',
    previous: { ...marina, userId: 'BR.1' },
    customer: moved,
    at: w.clock.now(),
  })
  assert.equal(await w.recorded({ phone: moved.phone }), 'opted_out')
  assert.equal(await w.recorded({ phone: marina.phone }), null, 'the number is free for another person')
  assert.equal(await w.recorded({ phone: moved.phone, userId: 'BR.2' }), null, 'the number of another user')
})

test('a person records a decision and can take back only their own last one, as if it had not been made', async () => {
  const w = await consentWorld()
  const { id } = await w.says('Hello')
  const put = await w.member.call('PUT', consentPath(id), { decision: 'opted_out' })
  assert.equal(put.body.conversation.marketingConsent.source, 'member')
  assert.equal(put.body.conversation.optedOutAt, w.clock.now().toISOString())
  assert.equal((await w.member.call('PUT', consentPath(id), { decision: 'opted_out' })).status, 200)
  assert.equal((await w.activities(id)).length, 1, 'a repeat changes nothing')
  const undone = await w.member.call('DELETE', consentPath(id))
  assert.deepEqual([undone.status, undone.body.conversation.marketingConsent], [200, null])
  assert.equal(await w.recorded({ phone: marina.phone }), null)
  assert.equal((await w.member.call('DELETE', consentPath(id))).status, 409)

  await w.member.call('PUT', consentPath(id), { decision: 'opted_in' })
  await w.says('STOP')
  assert.equal((await w.member.call('DELETE', consentPath(id))).status, 409, 'the customer has decided since')
  await w.member.call('PUT', consentPath(id), { decision: 'opted_in' })
  w.clock.advance(11 * 60_000)
  assert.equal((await w.member.call('DELETE', consentPath(id))).status, 409, 'too long ago')
  assert.equal((await w.member.call('PUT', consentPath(crypto.randomUUID()), { decision: 'opted_in' })).status, 404)
})

test('the history of a customer is bounded, and keeps the decision that counts', async () => {
  const w = await consentWorld()
  const { id } = await w.says('Hello')
  for (let n = 0; n < 30; n++) {
    w.clock.advance(1000)
    await w.deliver(preference(w, { phone: marina.phone }, true), preference(w, { phone: marina.phone }, false))
    w.clock.advance(1000)
    await w.deliver(preference(w, { phone: marina.phone }, false))
  }
  const [row] = await w.db.sql<[{ count: number }]>`
    select count(*)::integer as count from consents where workspace_id = ${w.workspaceId}`
  assert.equal(row.count, 50)
  assert.equal((await w.consent(id)).decision, 'opted_in')
})
