import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { parseCallback } from '../../server/src/channels/waba/parse/parse-callback.ts'
import { isSignedBy, parseSignature } from '../../server/src/channels/waba/webhook-routes.ts'
import type { Loose } from '../../server/test/support/channels/rigs.ts'
import { simulatorWorld } from '../../server/test/support/channels/simulator.ts'
import { inboundKinds } from '../src/inbound.ts'

const w = await simulatorWorld()
const { simulator } = w
const { platform, number } = simulator
const change = (id: string, body: object) => w.call('PATCH', `/simulator/customers/${id}`, body)
const knobs = (body: object) => w.call('PATCH', '/simulator/delivery', body)
const calm = () => w.call('POST', '/simulator/delivery/calm')
const clock = (body: object) => w.call('POST', '/simulator/clock', body)
const texts = () => w.changes().flatMap(({ value }) => (value.messages ?? []).map((one: Loose) => one.text?.body))

test('every customer webhook is signed over its raw bytes, and parsed or deliberately skipped by the product', async () => {
  const zoe = await w.customer()
  const { body: first } = await w.says(zoe.id, { text: 'Olá ✓ 😀 a/b', ad: 'image' })
  for (const kind of inboundKinds) {
    assert.equal((await w.says(zoe.id, { kind, text: 'words', about: first.id })).status, 201)
  }
  await w.call('POST', `/simulator/customers/${zoe.id}/call`)
  await w.call('POST', `/simulator/customers/${zoe.id}/echo`, { text: 'from the phone' })
  await change(zoe.id, { phone: '442079559999' })
  await w.call('POST', '/simulator/account-events', { event: 'PARTNER_REMOVED' })
  await simulator.settled()
  for (const { raw, headers } of w.received) {
    const signature = parseSignature(headers['x-hub-signature-256'])
    assert.ok(signature !== null && isSignedBy(number.appSecret, raw, signature))
  }
  const raw = w.received[0]?.raw ?? assert.fail()
  assert.match(raw.toString(), /Ol\\u00e1 \\u2713 \\ud83d\\ude00 a\/b/)
  const rewritten = createHmac('sha256', number.appSecret).update(JSON.stringify(w.received[0]?.body)).digest('hex')
  assert.notEqual(w.received[0]?.headers['x-hub-signature-256'], `sha256=${rewritten}`)
  const events = w.received.flatMap(({ body }) => parseCallback(body, new Date()).items.map(({ event }) => event))
  const seen = new Set(events.map((event) => (event.type === 'message' ? event.kind : event.type)))
  const expected = ['text', 'image', 'video', 'audio', 'document', 'location', 'echo', 'contact_opened']
  for (const one of [...expected, 'customer_changed', 'connection_state']) assert.ok(seen.has(one as never), one)
  assert.ok(events.some((event) => event.type === 'message' && event.referral?.ctwa_clid))
})

test('a webhook not answered with 200 is retried with the same bytes until the schedule ends', async () => {
  const zoe = await w.customer()
  w.answers.push(500, 204, 200)
  await w.says(zoe.id, { text: 'again' })
  await simulator.settled()
  assert.deepEqual(texts(), ['again'])
  w.answers.push(500, 500, 500, 500)
  await w.says(zoe.id, { text: 'never' })
  await simulator.settled()
  assert.deepEqual([texts(), platform.webhookSender.counts.lost], [['again'], 1])
})

test('deliveries can be duplicated, lost, batched, reordered, paused, delayed, escaped differently, and skip a status', async () => {
  const zoe = await w.customer({ readsAtOnce: true })
  const three = async (changes: object) => {
    await knobs(changes)
    w.received.length = 0
    for (const text of ['1', '2', '3']) await w.says(zoe.id, { text })
    if (!('paused' in changes)) await simulator.settled()
    return texts()
  }
  assert.deepEqual((await three({ duplicates: 1 })).sort(), ['1', '1', '2', '2', '3', '3'])
  await calm()
  assert.deepEqual(await three({ drop: 2 }), ['3'])
  assert.deepEqual([await three({ batch: 3 }), w.received.length], [['1', '2', '3'], 1])
  assert.deepEqual([await three({ batch: 1, reorder: 3 }), w.received.length], [['3', '2', '1'], 3])
  await calm()
  assert.deepEqual([await three({ paused: true }), platform.webhookSender.pending()], [[], 3])
  await knobs({ paused: false, skipDelivered: true, escapeSlashes: true })
  await simulator.settled()
  assert.deepEqual(texts(), ['1', '2', '3'])
  w.received.length = 0
  await w.text(zoe.phone, 'x')
  await w.says(zoe.id, { text: 'a/b' })
  await simulator.settled()
  assert.deepEqual(w.statuses(), ['sent', 'read'])
  assert.ok(w.received.some(({ raw }) => raw.includes('a\\/b')))
  await calm()
  await knobs({ delayMs: 3_600_000 })
  w.received.length = 0
  await w.says(zoe.id, { text: 'late' })
  assert.deepEqual([texts(), platform.webhookSender.pending()], [[], 1])
  assert.equal((await clock({ advanceMs: 3_600_000 })).body.shiftMs, 3_600_000)
  await simulator.settled()
  assert.deepEqual(texts(), ['late'])
  await calm()
  await clock({ set: '2030-01-01T00:00:00Z' })
  assert.equal(platform.clock.now().toISOString().slice(0, 16), '2030-01-01T00:00')
  for (const odd of [{ set: 'tomorrow' }, {}]) assert.equal((await clock(odd)).status, 400)
  assert.equal((await clock({ follow: true })).body.shiftMs, 0)
})

test('a callback is used only after it has answered the challenge', async () => {
  const { accountId, numberId, callbackUrl } = number
  const apps = `${accountId}/subscribed_apps`
  const over = (override_callback_uri: string | null) => ({ override_callback_uri, verify_token: 'word' })
  assert.equal((await w.graph('POST', apps, over('http://127.0.0.1:9/x'))).body.error.code, 2200)
  assert.deepEqual((await w.graph('POST', apps, over(callbackUrl))).body, { success: true })
  assert.equal((await w.graph('POST', numberId, { webhook_configuration: over(callbackUrl) })).status, 200)
  const zoe = await w.customer()
  await w.graph('DELETE', apps)
  await w.says(zoe.id, { text: 'unheard' })
  await simulator.settled()
  assert.deepEqual(texts(), [])
  await w.graph('POST', apps)
  assert.equal((await w.graph('GET', apps)).body.data.length, 1)
})

test('a customer stops marketing: it is announced, and marketing templates are refused until they resume', async () => {
  const zoe = await w.customer()
  await w.call('POST', '/simulator/templates', {
    ...{ name: 'sale', language: 'en_US', status: 'APPROVED', category: 'MARKETING' },
    components: [{ type: 'BODY', text: 'Sale!' }],
  })
  const template = { name: 'sale', language: { code: 'en_US' } }
  const send = async (endpoint: string, content: object) => {
    const message = { messaging_product: 'whatsapp', to: `+${zoe.phone}`, ...content }
    const { status, body } = await w.graph('POST', `${number.numberId}/${endpoint}`, message)
    return body.error?.code ?? status
  }
  const sale = { type: 'template', template }
  assert.equal(await send('marketing_messages', sale), 200)
  assert.equal(await send('marketing_messages', { type: 'text', text: { body: 'Hi' } }), 100)
  await simulator.settled()
  w.received.length = 0
  await change(zoe.id, { stopsMarketing: true })
  await simulator.settled()
  const told = w.received.flatMap(({ body }) => parseCallback(body, new Date()).items.map(({ event }) => event))
  assert.deepEqual(
    told.map((event) => (event.type === 'marketing_preference' ? [event.isStopped, event.customer.phone] : event.type)),
    [[true, zoe.phone]],
  )
  assert.deepEqual([await send('messages', sale), await send('marketing_messages', sale)], [131050, 131050])
  await change(zoe.id, { stopsMarketing: false })
  assert.equal(await send('messages', sale), 200)
  await change(zoe.id, { isSaturated: true })
  await simulator.settled()
  w.received.length = 0
  assert.equal(await send('messages', sale), 200, 'accepted, and not delivered')
  await simulator.settled()
  assert.ok(JSON.stringify(w.received).includes('131049'))
})

test('a template with a new category is announced, with the former one', async () => {
  const { body: template } = await w.call('POST', '/simulator/templates', {
    ...{ name: 'order', language: 'en_US', status: 'APPROVED', components: [{ type: 'BODY', text: 'Here it is.' }] },
  })
  await simulator.settled()
  w.received.length = 0
  await w.call('PATCH', `/simulator/templates/${template.id}`, { category: 'MARKETING' })
  await simulator.settled()
  const [event] = w.received.flatMap(({ body }) => parseCallback(body, new Date()).items.map((item) => item.event))
  const category = { name: 'order', language: 'en_US', category: 'MARKETING' }
  assert.deepEqual(event, { type: 'templates_changed', category })
})
