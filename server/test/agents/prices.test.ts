import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pricing } from '../../src/channels/channel-event.ts'
import { agentsWorld, agentsWorldWithTemplate, template } from '../support/agents/agents-world.ts'
import { marina } from '../support/inbox/inbox-world.ts'

const pricing: Pricing = { type: 'free_customer_service', category: 'service', isBillable: false, freeUntil: null }

test('an answer says how many messages it is, and not yet whether they are among the free ones', async () => {
  const w = await agentsWorld({ maxParts: 3 })
  const { id: conversation_id } = await w.customerWrites('Tell me everything')
  const long = Array.from({ length: 1200 }, (_, n) => `word${n}`).join(' ')
  const first = await w.callTool('answer', { conversation_id, text: long })
  assert.deepEqual([first.status, first.body.parts, first.body.billable], [200, 3, null])
  const again = await w.callTool('answer', { conversation_id, text: long })
  assert.deepEqual([again.body.was_new, again.body.parts, again.body.billable], [false, 3, null])
})

test('a template is charged, except while the customer is in a free entry point', async () => {
  const w = await agentsWorldWithTemplate()
  const { id: conversation_id } = await w.customerWrites('Hi, I saw your ad')
  const send = async () =>
    (await w.callTool('answer', { conversation_id, template, idempotency_key: `${w.sent().length}` })).body
  const first = await send()
  assert.deepEqual([first.parts, first.billable], [1, true])
  const freeUntil = new Date(w.clock.now().getTime() + 3_600_000)
  const free: Pricing = { type: 'free_entry_point', category: 'referral_conversion', isBillable: false, freeUntil }
  const correlator = `${await w.pendingSend(conversation_id)}:1`
  await w.deliver(w.status('wamid.free', 'delivered', { correlator, customer: marina, pricing: free }))
  assert.equal((await send()).billable, false)
  w.clock.advance(3_600_000)
  assert.equal((await send()).billable, true)
})

test('who_am_i says how many free replies each connection has left this month', async () => {
  const w = await agentsWorld()
  const left = async () => (await w.callTool('who_am_i')).body.limits.free_replies
  assert.deepEqual(await left(), [{ connection_id: w.connectionId, left: 1000 }])
  await w.deliver(w.status('wamid.1', 'delivered', { pricing }), w.status('wamid.2', 'delivered', { pricing }))
  assert.deepEqual(await left(), [{ connection_id: w.connectionId, left: 998 }])
  w.clock.set(new Date('2026-04-01T00:00:00Z'))
  assert.deepEqual(await left(), [{ connection_id: w.connectionId, left: 1000 }])
})

test('the charge of a template names the template and the key that sent it', async () => {
  const w = await agentsWorldWithTemplate()
  const { id: conversation_id } = await w.customerWrites('Hi')
  const { body } = await w.callTool('answer', { conversation_id, template })
  const charged: Pricing = { type: 'regular', category: 'utility', isBillable: true, freeUntil: null }
  const correlator = `${body.message_id}:1`
  await w.deliver(w.status('wamid.template', 'delivered', { correlator, customer: marina, pricing: charged }))
  const charges = await w.db.sql<{ template: string; sender: string; of: string }[]>`
    select template, actor_type || ':' || actor_id as sender, conversation_id as of
    from message_charges
    where workspace_id = ${w.workspaceId}`
  assert.deepEqual([...charges], [{ template: template.name, sender: `agent:${w.agent.id}`, of: conversation_id }])
})
