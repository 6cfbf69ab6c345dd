import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type BehaviorWorld,
  beginConversation,
  behaviorWorld,
  deliveredTexts,
} from '../../support/channels/behavior-world.ts'
import { rigs } from '../../support/channels/rigs.ts'

const [rig] = rigs
const minuteMs = 60_000
const template = { name: 'order_update', language: 'en', body_params: ['Ana', 'A-17'] }
let sends = 0

async function paymentWorld() {
  assert.ok(rig !== undefined && rig.channel === 'waba')
  const w = await behaviorWorld(rig)
  await w.team('POST', `/connections/${w.line.connectionId}/templates/sync`)
  const { numbers } = await w.simulate('GET', 'numbers')
  const { numberId } = numbers.at(-1)
  const resultOf = async (sent: Promise<{ status: number; body: Record<string, Record<string, string>> }>) => {
    const { status, body } = await sent
    await w.settled()
    return status === 202 ? 'accepted' : `${status} ${body.data?.code} ${body.data?.reason ?? ''}`
  }
  const opening = (phone: string) => ({ connection_id: w.line.connectionId, phone: `+${phone}`, template })
  return {
    ...w,
    start: (phone: string) =>
      resultOf(
        w.member.call('POST', '/inbox/conversations', opening(phone), { 'idempotency-key': `start-${++sends}` }),
      ),
    startAsAgent: async (phone: string) => {
      const { status, body } = await w.verb('POST', '/conversations', { body: opening(phone) })
      await w.settled()
      return status < 300 ? 'accepted' : `${status} ${body.code} ${body.reason ?? ''}`
    },
    setPayment: (paymentFails: boolean) => w.simulate('PATCH', `numbers/${numberId}`, { paymentFails }),
    say: (id: string, text: string) => resultOf(w.send(id, text)),
    offer: (id: string) =>
      resultOf(
        w.agent('POST', `/conversations/${id}/messages`, {
          body: { kind: 'template', template },
          headers: { 'idempotency-key': `offer-${++sends}` },
        }),
      ),
  }
}

const held = '409 CONNECTION_UNAVAILABLE platform_error_131042'
const errorOf = async (w: BehaviorWorld, id: string) => (await w.messages(id)).at(-1).error_code

test('a failed payment stops charged templates of its number and nothing else, and ends without a person', async () => {
  const w = await paymentWorld()
  const { ana, id } = await beginConversation(w)
  await w.setPayment(true)
  assert.equal(await w.offer(id), 'accepted')
  assert.equal(await errorOf(w, id), '131042')
  assert.equal(await w.offer(id), held)

  const bruno = await w.line.customer('Bruno Sá')
  await bruno.writes('Hello')
  await w.settled()
  const brunos = (await w.conversation(bruno.phone)).id
  assert.deepEqual([await w.say(id, 'one'), await w.say(brunos, 'two')], ['accepted', 'accepted'])
  assert.deepEqual([await deliveredTexts(ana), await deliveredTexts(bruno)], [['one'], ['two']])
  const other = await behaviorWorld(rig as NonNullable<typeof rig>)
  const { id: elsewhere } = await beginConversation(other)
  assert.equal((await other.send(elsewhere, 'of another number')).status, 202)

  await w.later(5 * minuteMs)
  assert.equal(await w.offer(id), 'accepted', 'a test after five minutes')
  assert.equal(await errorOf(w, id), '131042')
  await w.later(9 * minuteMs)
  assert.equal(await w.offer(id), held, 'the pause has doubled')
  await w.setPayment(false)
  await w.later(minuteMs)
  assert.deepEqual([await w.offer(id), await w.offer(brunos)], ['accepted', 'accepted'])
  assert.equal((await deliveredTexts(bruno)).length, 2)
})

test('a refused reply does not keep other customers from being answered', async () => {
  const w = await paymentWorld()
  const { id } = await beginConversation(w)
  const { numbers } = await w.simulate('GET', 'numbers')
  await w.simulate('PATCH', `numbers/${numbers.at(-1).numberId}`, { freeServiceMessages: 0 })
  await w.setPayment(true)
  assert.equal(await w.say(id, 'one'), 'accepted')
  assert.equal(await errorOf(w, id), '131042')
  const bruno = await w.line.customer('Bruno Sá')
  await bruno.writes('Hello')
  await w.settled()
  await w.setPayment(false)
  assert.equal(await w.say((await w.conversation(bruno.phone)).id, 'two'), 'accepted')
  assert.deepEqual(await deliveredTexts(bruno), ['two'])
})

test('a customer in a free entry point gets templates while charged ones are on hold', async () => {
  const w = await paymentWorld()
  const { id } = await beginConversation(w)
  const bruno = await w.line.customer('Bruno Sá')
  const [known] = (await w.simulate('GET', 'customers')).customers.filter(
    ({ phone }: { phone: string }) => phone === bruno.phone,
  )
  await w.simulate('POST', `customers/${known.id}/messages`, { text: 'Hi! I saw your ad', ad: 'image' })
  await w.settled()
  const brunos = (await w.conversation(bruno.phone)).id
  assert.equal(await w.say(brunos, 'a reply opens it'), 'accepted')
  await w.setPayment(true)
  assert.equal(await w.offer(id), 'accepted')
  assert.equal(await w.offer(id), held)
  assert.equal(await w.offer(brunos), 'accepted')
  assert.equal((await deliveredTexts(bruno)).length, 2)
  // Starting a conversation decides like a send in it, for people and agents.
  assert.deepEqual([await w.startAsAgent(bruno.phone), await w.start(bruno.phone)], ['accepted', 'accepted'])
  assert.equal((await deliveredTexts(bruno)).length, 4)
  const stranger = '5511955507001'
  assert.deepEqual([await w.start(stranger), await w.startAsAgent(stranger)], [held, held])
  assert.equal(await w.conversation(stranger), undefined)
})
