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

/** A number whose first two replies of a month are free, as its workspace knows. */
async function paymentWorld() {
  assert.ok(rig !== undefined && rig.channel === 'waba')
  const w = await behaviorWorld(rig)
  const { numbers } = await w.simulate('GET', 'numbers')
  const { numberId } = numbers.at(-1)
  const setNumber = (fields: object) => w.simulate('PATCH', `numbers/${numberId}`, fields)
  await setNumber({ freeServiceMessages: 2 })
  const { status } = await w.team('PATCH', '/billing-settings', { freeServiceMessages: 2 })
  assert.equal(status, 200)
  const say = async (id: string, text: string) => {
    const { status: answered, body } = await w.send(id, text)
    await w.settled()
    return answered === 202 ? 'accepted' : `${answered} ${body.data.code} ${body.data.reason ?? ''}`
  }
  return { ...w, numberId, say, setPayment: (paymentFails: boolean) => setNumber({ paymentFails }) }
}

const held = '409 CONNECTION_UNAVAILABLE platform_error_131042'
const errorOf = async (w: BehaviorWorld, id: string) => (await w.messages(id)).at(-1).error_code

test('a failed payment stops what is charged on its number and nothing else, and ends without a person', async () => {
  const w = await paymentWorld()
  const { ana, id } = await beginConversation(w)
  await w.setPayment(true)
  assert.deepEqual([await w.say(id, 'one'), await w.say(id, 'two')], ['accepted', 'accepted'])
  assert.deepEqual(await deliveredTexts(ana), ['one', 'two'], 'the free ones of the month')
  assert.equal(await w.say(id, 'three'), 'accepted')
  assert.equal(await errorOf(w, id), '131042')
  assert.equal(await w.say(id, 'four'), held)

  const bruno = await w.line.customer('Bruno Sá')
  const [known] = (await w.simulate('GET', 'customers')).customers.filter(
    ({ phone }: { phone: string }) => phone === bruno.phone,
  )
  await w.simulate('POST', `customers/${known.id}/messages`, { text: 'Hi! I saw your ad', ad: 'image' })
  await w.settled()
  const brunos = (await w.conversation(bruno.phone)).id
  assert.equal(await w.say(brunos, 'a reply opens a free entry point'), 'accepted')
  assert.deepEqual(await deliveredTexts(bruno), ['a reply opens a free entry point'])

  const other = await behaviorWorld(rig as NonNullable<typeof rig>)
  const { id: elsewhere } = await beginConversation(other)
  assert.equal((await other.send(elsewhere, 'of another number')).status, 202)

  await w.later(5 * minuteMs)
  assert.equal(await w.say(id, 'a test after five minutes'), 'accepted')
  assert.equal(await errorOf(w, id), '131042')
  await w.later(9 * minuteMs)
  assert.equal(await w.say(id, 'too early: the pause has doubled'), held)
  await w.setPayment(false)
  await w.later(minuteMs)
  assert.equal(await w.say(id, 'a test that succeeds'), 'accepted')
  assert.equal(await w.say(brunos, 'everything is sent again'), 'accepted')
  assert.deepEqual(await deliveredTexts(ana), ['one', 'two', 'a test that succeeds'])
})

test('a refused reply shows that no free ones are left, whatever the workspace has counted', async () => {
  const w = await paymentWorld()
  const { id } = await beginConversation(w)
  // Another app has sent the free ones of the month.
  await w.simulate('PATCH', `numbers/${w.numberId}`, { freeServiceMessages: 0 })
  await w.setPayment(true)
  assert.equal(await w.say(id, 'one'), 'accepted')
  assert.equal(await errorOf(w, id), '131042')
  assert.equal(await w.say(id, 'two'), held)
})

test('a customer in an open free entry point is answered while charged messages are on hold', async () => {
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
  for (const text of ['one', 'two', 'three']) assert.equal(await w.say(id, text), 'accepted')
  assert.equal(await w.say(id, 'four'), held)
  assert.equal(await w.say(brunos, 'still free'), 'accepted')
  assert.equal(await w.say(brunos, 'and further ones'), 'accepted')
  assert.deepEqual((await deliveredTexts(bruno)).length, 3)
})
