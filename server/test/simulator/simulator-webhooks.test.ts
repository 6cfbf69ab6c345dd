import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { parse } from '../../src/channels/waba/read/parse.ts'
import { isSignedBy, readSignature } from '../../src/channels/waba/take-callback.ts'
import { inboundKinds } from '../../src/simulator/inbound.ts'
import { simulatorWorld } from '../support/channels/simulator.ts'

const w = await simulatorWorld()
const { simulator } = w
const say = (id: string, body: object) => w.call('POST', `/simulator/customers/${id}/messages`, body)
const knobs = (body: object) => w.call('PATCH', '/simulator/delivery', body)
const calm = () => w.call('POST', '/simulator/delivery/calm')
const texts = () =>
  w.changes().flatMap(({ value }) => (value.messages ?? []).map((m: { text?: { body: string } }) => m.text?.body))

test('a webhook is signed over its raw bytes, which are ASCII, with slashes escaped when asked for', async () => {
  const zoe = await w.customer()
  await say(zoe.id, { text: 'Olá ✓ 😀 a/b' })
  await simulator.settled()
  const [first] = w.received
  assert.ok(first)
  assert.equal(
    first.raw.every((byte) => byte < 0x80),
    true,
  )
  assert.match(first.raw.toString(), /Ol\\u00e1 \\u2713 \\ud83d\\ude00 a\/b/)
  const hex = createHmac('sha256', simulator.number.appSecret).update(first.raw).digest('hex')
  assert.equal(first.headers['x-hub-signature-256'], `sha256=${hex}`)
  const again = createHmac('sha256', simulator.number.appSecret).update(JSON.stringify(first.body)).digest('hex')
  assert.notEqual(again, hex)
  const { value, field } = first.body.entry[0].changes[0]
  assert.deepEqual(
    [field, value.metadata.phone_number_id, value.messages[0].text.body],
    ['messages', simulator.number.numberId, 'Olá ✓ 😀 a/b'],
  )
  assert.match(value.messages[0].timestamp, /^\d{10}$/)
  await knobs({ escapeSlashes: true })
  await say(zoe.id, { text: 'a/b' })
  await simulator.settled()
  assert.ok(w.received[1]?.raw.includes('a\\/b'))
  await calm()
})

test('every webhook of a customer is signed, and understood or knowingly passed over by the product', async () => {
  const zoe = await w.customer()
  const { body: first } = await say(zoe.id, { text: 'first', ad: 'image' })
  for (const kind of inboundKinds) await say(zoe.id, { kind, text: 'words', about: first.id })
  await w.call('POST', `/simulator/customers/${zoe.id}/call`)
  await w.call('POST', `/simulator/customers/${zoe.id}/echo`, { text: 'from the phone' })
  await w.call('PATCH', `/simulator/customers/${zoe.id}`, { phone: '442079559999' })
  await w.call('POST', '/simulator/account-events', { event: 'PARTNER_REMOVED' })
  await simulator.settled()
  for (const { raw, headers } of w.received) {
    const signature = readSignature(headers['x-hub-signature-256'])
    assert.ok(signature !== null && isSignedBy(simulator.number.appSecret, raw, signature))
  }
  const events = w.received.flatMap(({ body }) => parse(body, new Date()).items.map(({ event }) => event))
  const seen = new Set(events.map((event) => (event.type === 'message' ? event.kind : event.type)))
  const expected = ['text', 'image', 'video', 'audio', 'document', 'location', 'echo', 'contact_opened']
  for (const one of [...expected, 'customer_changed', 'connection_state']) assert.ok(seen.has(one as never), one)
  assert.ok(events.some((event) => event.type === 'message' && event.referral?.ctwa_clid))
})

test('what is not answered by 200 comes again, the same bytes, until the schedule ends', async () => {
  const zoe = await w.customer()
  w.answers.push(500, 204, 200)
  await say(zoe.id, { text: 'again' })
  await simulator.settled()
  assert.deepEqual(texts(), ['again'])
  const before = simulator.platform.courier.counts.lost
  w.answers.push(500, 500, 500, 500)
  await say(zoe.id, { text: 'never' })
  await simulator.settled()
  assert.deepEqual([texts(), simulator.platform.courier.counts.lost - before], [['again'], 1])
})

test('deliveries can be doubled, lost, batched, shuffled and held', async () => {
  const zoe = await w.customer()
  const three = async (changes: object) => {
    await knobs(changes)
    w.received.length = 0
    for (const text of ['1', '2', '3']) await say(zoe.id, { text })
    if (!('paused' in changes)) await simulator.settled()
    return texts()
  }
  assert.deepEqual((await three({ duplicates: 1 })).sort(), ['1', '1', '2', '2', '3', '3'])
  await calm()
  assert.deepEqual(await three({ drop: 2 }), ['3'])
  assert.deepEqual([await three({ batch: 3 }), w.received.length], [['1', '2', '3'], 1])
  assert.deepEqual([await three({ batch: 1, reorder: 3 }), w.received.length], [['3', '2', '1'], 3])
  await calm()
  assert.deepEqual([await three({ paused: true }), simulator.platform.courier.pending()], [[], 3])
  await knobs({ paused: false })
  await simulator.settled()
  assert.deepEqual(texts(), ['1', '2', '3'])
})

test('a delay runs on the simulated clock, which moves on, goes to a time and comes back', async () => {
  const zoe = await w.customer()
  const clock = (body: object) => w.call('POST', '/simulator/clock', body)
  await knobs({ delayMs: 3_600_000 })
  await say(zoe.id, { text: 'late' })
  assert.deepEqual([texts(), simulator.platform.courier.pending()], [[], 1])
  assert.equal((await clock({ advanceMs: 3_600_000 })).body.shiftMs, 3_600_000)
  await simulator.settled()
  assert.deepEqual(texts(), ['late'])
  await calm()
  await clock({ set: '2030-01-01T00:00:00Z' })
  assert.equal(simulator.platform.clock.now().toISOString().slice(0, 16), '2030-01-01T00:00')
  for (const odd of [{ set: 'tomorrow' }, {}]) assert.equal((await clock(odd)).status, 400)
  assert.equal((await clock({ follow: true })).body.shiftMs, 0)
})

test('`delivered` can be left out', async () => {
  const zoe = await w.customer({ readsAtOnce: true })
  await knobs({ skipDelivered: true })
  await w.text(zoe.phone, 'x')
  await simulator.settled()
  assert.deepEqual(w.statuses(), ['sent', 'read'])
  await calm()
})

test('a callback is used only after it has given the challenge back', async () => {
  const { accountId, numberId, callbackUrl } = simulator.number
  const over = (override_callback_uri: string | null) => ({ override_callback_uri, verify_token: 'word' })
  assert.equal(
    (await w.graph('POST', `${accountId}/subscribed_apps`, over('http://127.0.0.1:9/x'))).body.error.code,
    2200,
  )
  assert.deepEqual((await w.graph('POST', `${accountId}/subscribed_apps`, over(callbackUrl))).body, { success: true })
  assert.equal((await w.graph('POST', numberId, { webhook_configuration: over(callbackUrl) })).status, 200)
  const zoe = await w.customer()
  await w.graph('DELETE', `${accountId}/subscribed_apps`)
  await say(zoe.id, { text: 'unheard' })
  await simulator.settled()
  assert.deepEqual(texts(), [])
  await w.graph('POST', `${accountId}/subscribed_apps`)
  assert.equal((await w.graph('GET', `${accountId}/subscribed_apps`)).body.data.length, 1)
})

test('templates and accounts tell of their changes', async () => {
  w.received.length = 0
  const made = await w.call('POST', '/simulator/templates', {
    name: 'spring',
    language: 'en',
    components: [{ type: 'BODY', text: 'Hi' }],
  })
  assert.equal(made.status, 201)
  await w.call('PATCH', `/simulator/templates/${made.body.id}`, { status: 'APPROVED' })
  await w.call('DELETE', `/simulator/templates/${made.body.id}`)
  await w.call('POST', '/simulator/account-events', { event: 'PARTNER_REMOVED' })
  await w.call('POST', '/simulator/webhooks', { field: 'history', value: { history: [] } })
  await simulator.settled()
  const told = w.changes().map(({ field, value }) => `${field} ${value.event ?? ''}`.trim())
  assert.deepEqual(told, [
    'message_template_status_update PENDING',
    'message_template_status_update APPROVED',
    'message_template_status_update DELETED',
    'account_update PARTNER_REMOVED',
    'history',
  ])
  assert.equal(typeof w.received[0]?.body.entry[0].time, 'number')
})
