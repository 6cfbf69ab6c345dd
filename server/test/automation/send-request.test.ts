import assert from 'node:assert/strict'
import { test } from 'node:test'
import { insertEndpoint } from '../support/webhooks/insert-endpoint.ts'
import { verifyWebhook } from '../support/webhooks/verify-webhook.ts'
import { startReceiver } from '../support/webhooks/webhook-receiver.ts'
import { automationWorld, minute } from './automation-world.ts'

const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`

async function requestWorld(phoneVisibility: 'full' | 'masked' = 'full') {
  const [w, receiver] = [await automationWorld(), await startReceiver()]
  const keyring = await w.keyStore.keyring(w.workspaceId)
  const settings = { url: receiver.url, secret, phoneVisibility, events: ['lead.created'] }
  return { ...w, receiver, endpointId: await insertEndpoint(w.db, keyring, w.workspaceId, settings) }
}

test('a rule posts what it acts on, signed, with one id until the address takes it, then goes on', async () => {
  const { receiver, endpointId, ...w } = await requestWorld()
  const label = await w.addLabel('Told')
  const ruleId = await w.addRule({
    ...{ name: 'Tell the shop', trigger: 'no_team_answer', afterMinutes: 30 },
    actions: [
      { kind: 'send_request', endpointId },
      { kind: 'add_labels', labelIds: [label] },
    ],
  })
  const { id, phone } = await w.newCustomer()
  receiver.answer(({ number }) => (number === 1 ? { status: 503 } : { status: number === 2 ? 500 : 204 }))
  w.clock.advance(31 * minute)
  await w.drain()
  assert.equal(receiver.received.length, 1)
  const [waiting] = await w.runs(ruleId)
  assert.deepEqual([waiting.state, waiting.step, waiting.code], ['pending', 0, 'ANSWER_503'])
  for (const wanted of [2, 3]) {
    w.clock.advance(minute)
    await w.drain()
    assert.equal(receiver.received.length, wanted)
  }
  const [first, second, third] = receiver.received
  assert.ok(first !== undefined && third !== undefined)
  assert.deepEqual([second?.id, third.id], [first.id, first.id])
  verifyWebhook(secret, third, w.clock.now())
  const { event, payload } = third.body
  assert.deepEqual([event, third.event], ['automation.action', 'automation.action'])
  assert.deepEqual(payload.rule, { id: ruleId, name: 'Tell the shop' })
  assert.deepEqual(
    [payload.trigger, payload.conversation.id, payload.conversation.contact.phone],
    ['no_team_answer', id, phone],
  )
  const [done] = await w.runs(ruleId)
  assert.deepEqual([done.state, done.step, done.code], ['done', 2, null])
  assert.deepEqual((await w.read(id)).labelIds, [label])
  assert.deepEqual(w.ended, ['done'])
})

test('a request masks phones as its endpoint does, and is left out once the customer has written', async () => {
  const { receiver, endpointId, ...w } = await requestWorld('masked')
  const ruleId = await w.addRule({
    actions: [
      { kind: 'send_request', endpointId },
      { kind: 'wait', minutes: 60, endsIfCustomerWrites: true },
      { kind: 'send_request', endpointId },
    ],
  })
  const { phone } = await w.newCustomer()
  await w.drain()
  const [masked] = receiver.received
  assert.ok(masked !== undefined && !masked.text.includes(phone), masked?.text ?? 'nothing')
  const before = (await w.runs(ruleId)).map(({ id }: { id: string }) => id)
  await w.customerWrites('Still there', { customer: { userId: null, parentUserId: null, phone, name: 'Ana' } })
  w.clock.advance(61 * minute)
  await w.drain()
  const [earlier] = (await w.runs(ruleId)).filter(({ id }: { id: string }) => before.includes(id))
  assert.deepEqual([earlier.state, earlier.code], ['skipped', 'customer_wrote'])
})

test('the log says that an address cannot be reached', async () => {
  const w = await automationWorld()
  const keyring = await w.keyStore.keyring(w.workspaceId)
  const endpointId = await insertEndpoint(w.db, keyring, w.workspaceId, { url: 'http://127.0.0.1:9/', secret })
  const ruleId = await w.addRule({ actions: [{ kind: 'send_request', endpointId }] })
  await w.newCustomer()
  await w.drain()
  w.clock.advance(10_000)
  await w.drain()
  const [run] = await w.runs(ruleId)
  assert.deepEqual([run.state, run.code], ['pending', 'REQUEST_WAITS'], 'it is left alone for half a minute')
  w.clock.advance(minute)
  await w.drain()
  const [again] = await w.runs(ruleId)
  assert.equal(again.code, 'REQUEST_CONNECT')
})

test('an address that never takes it is given up with the reason; a disabled endpoint, and a macro, are refused', async () => {
  const { receiver, endpointId, ...w } = await requestWorld()
  const ruleId = await w.addRule({ actions: [{ kind: 'send_request', endpointId }] })
  await w.newCustomer()
  receiver.answer(() => ({ status: 418 }))
  for (let hour = 0; hour < 12; hour++) {
    await w.drain()
    w.clock.advance(31 * minute)
  }
  const [run] = await w.runs(ruleId)
  assert.deepEqual([run.state, run.code, receiver.received.length], ['failed', 'ANSWER_418', 11])
  await w.db.sql`
    update webhook_endpoints
    set state = 'disabled', state_reason = 'member'
    where workspace_id = ${w.workspaceId} and id = ${endpointId}`
  await w.newCustomer()
  await w.drain()
  const [refused] = await w.runs(ruleId)
  assert.deepEqual([refused.state, refused.code], ['failed', 'HTTP_409'])
  assert.deepEqual(w.ended, ['failed', 'failed'])
  const macro = { name: 'Tell', actions: [{ kind: 'send_request', endpointId }] }
  assert.equal((await w.admin.call('POST', '/automation/macros', macro)).status, 400)
})

test('a rule can be limited to customers of countries with a language', async () => {
  const w = await automationWorld()
  const ruleId = await w.addRule({ conditions: [{ field: 'language', operator: 'any_of', values: ['pt'] }] })
  const { id } = await w.newCustomer()
  const { id: french } = await w.customerWrites('Bonjour', {
    customer: { userId: null, parentUserId: null, phone: '33612345678', name: 'Zoé' },
  })
  await w.drain()
  assert.deepEqual([(await w.read(id)).status, (await w.read(french)).status], ['pending', 'open'])
  const bad = { conditions: [{ field: 'language', operator: 'any_of', values: ['Portuguese'] }] }
  assert.equal((await w.admin.call('PATCH', `/automation/rules/${ruleId}`, bad)).status, 400)
})
