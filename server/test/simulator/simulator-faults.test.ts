import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createJournal } from '../../src/simulator/callbacks/journal.ts'
import { addCustomer, addMessage, createWorld } from '../../src/simulator/world.ts'
import { simulatorWorld } from '../support/channels/simulator.ts'
import { untilTold } from '../support/until.ts'

const w = await simulatorWorld()
const { simulator } = w
const { changed } = simulator.platform
let look = () => {}
simulator.platform.changed = () => {
  changed()
  look()
}
const onChange = (told: () => void) => {
  look = told
  return () => {}
}
const fault = (body: object) => w.call('POST', '/simulator/faults', body)
const zoe = await w.customer()

test('a fault refuses the next calls by its code, or by another status, and is used up', async () => {
  await fault({ effect: 'refuse', code: 130429, times: 2 })
  for (let call = 0; call < 2; call += 1) {
    const { status, body } = await w.text(zoe.phone, 'x')
    assert.deepEqual([status, body.error.code, body.error.error_data.messaging_product], [429, 130429, 'whatsapp'])
  }
  assert.equal((await w.text(zoe.phone, 'x')).status, 200)
  await fault({ effect: 'refuse', code: 190, httpStatus: 400 })
  assert.equal((await w.text(zoe.phone, 'x')).status, 400)
  assert.deepEqual((await w.call('GET', '/simulator/faults')).body.faults, [])
})

test('a fault of one recipient, or of templates, meets nothing else, for as long as it stays', async () => {
  const other = await w.customer()
  const { body } = await fault({ effect: 'refuse', code: 131056, to: zoe.phone, times: null })
  assert.equal((await w.text(other.phone, 'x')).status, 200)
  assert.equal((await w.text(`+${zoe.phone}`, 'x')).body.error.code, 131056)
  assert.equal((await w.text(zoe.phone, 'x')).body.error.code, 131056)
  assert.equal((await w.call('DELETE', `/simulator/faults/${body.id}`)).status, 200)
  assert.equal((await w.text(zoe.phone, 'x')).status, 200)
  assert.equal((await w.call('DELETE', `/simulator/faults/${body.id}`)).status, 404)
  await fault({ effect: 'refuse', code: 80007, on: 'templates' })
  const path = `${simulator.number.accountId}/message_templates`
  assert.equal((await w.graph('GET', path)).body.error.code, 80007)
  assert.equal((await w.graph('GET', path)).status, 200)
})

test('the answer can be an error or a page of HTML, whether or not the message goes out, or it fails afterwards', async () => {
  const rows: [fault: object, status: number, start: string, told: string[]][] = [
    [{ effect: 'server_error' }, 500, '{', []],
    [{ effect: 'server_error', httpStatus: 503, accepts: true }, 503, '{', ['sent', 'delivered']],
    [{ effect: 'html' }, 502, '<!DOCTYPE', []],
    [{ effect: 'html', accepts: true }, 502, '<!DOCTYPE', ['sent', 'delivered']],
    [{ effect: 'fail', code: 131026 }, 200, '{', ['failed']],
  ]
  for (const [body, status, start, told] of rows) {
    await simulator.settled()
    w.received.length = 0
    await fault(body)
    const answer = await w.text(zoe.phone, 'x')
    assert.equal(answer.status, status)
    assert.ok((typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body)).startsWith(start))
    await simulator.settled()
    assert.deepEqual(w.statuses(), told)
  }
})

test('the answer can be broken JSON, and the connection can break before or after the message is taken', async () => {
  await fault({ effect: 'garbage' })
  await assert.rejects(w.text(zoe.phone, 'x'), SyntaxError)
  for (const accepts of [false, true]) {
    await simulator.settled()
    w.received.length = 0
    await fault({ effect: 'reset', accepts })
    await assert.rejects(w.text(zoe.phone, 'x'), TypeError)
    await simulator.settled()
    assert.equal(w.statuses().length, accepts ? 2 : 0)
  }
})

test('an answer can come late, while the message is out already, or never', async () => {
  await fault({ effect: 'late', afterMs: 60_000 })
  const late = w.text(zoe.phone, 'late')
  await untilTold(onChange, () => simulator.platform.agenda.size() > 0)
  await w.call('POST', '/simulator/clock', { advanceMs: 60_000 })
  assert.equal((await late).status, 200)
  await fault({ effect: 'hang', accepts: true })
  const url = `${simulator.url}/v25.0/${simulator.number.numberId}/messages`
  const headers = { authorization: `Bearer ${simulator.number.accessToken}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ messaging_product: 'whatsapp', to: zoe.phone, text: { body: 'hang' } })
  const gone = new AbortController()
  const hanging = fetch(url, { method: 'POST', headers, body, signal: gone.signal })
  const { customers } = simulator.platform.world
  const hasArrived = () => customers.get(zoe.id)?.messages.some(({ text }) => text === 'hang')
  await untilTold(onChange, () => hasArrived() === true)
  gone.abort()
  await assert.rejects(hanging, { name: 'AbortError' })
})

test('a simulator stops while calls hang and webhooks wait', async () => {
  const other = await simulatorWorld({ retryMs: [3_600_000] })
  const { id, phone } = await other.customer()
  await other.call('POST', '/simulator/faults', { effect: 'hang' })
  const hanging = other.text(phone, 'x')
  other.answers.push(500)
  await other.call('POST', `/simulator/customers/${id}/messages`, { text: 'x' })
  await Promise.all([assert.rejects(hanging, TypeError), other.simulator.stop()])
})

test('memory has bounds: messages of a chat, customers, the journal', () => {
  const world = createWorld()
  const journal = createJournal()
  const at = new Date()
  const first = addCustomer(world, { numberId: '1', name: 'Zoë', phone: '12125550000' })
  first.lastWroteAt = at
  for (let n = 0; n < 510; n++) {
    addMessage(first, { id: `wamid.${n}`, from: 'customer', text: 'x', at })
    journal.add({ kind: 'call', at, method: 'GET', path: '/', body: null })
    addCustomer(world, { numberId: '1', name: 'x', phone: `1212555${n}` })
  }
  assert.deepEqual([first.messages.length, world.customers.size, journal.list().length], [300, 500, 300])
  assert.ok(world.customers.has(first.id), 'who has written stays longest')
})

test('pages of other sites reach neither knobs nor phones', async () => {
  const get = (headers: Record<string, string>) =>
    fetch(`${simulator.url}/simulator/numbers`, { headers }).then(({ status }) => status)
  assert.equal(await get({}), 200)
  assert.equal(await get({ origin: 'https://evil.example' }), 403)
  const plain = await fetch(`${simulator.url}/simulator/clock`, { method: 'POST', body: '{"advanceMs":1}' })
  assert.equal(plain.status, 415)
  const answer = await simulator.app.inject({
    method: 'GET',
    url: '/simulator/numbers',
    headers: { host: 'evil.example' },
  })
  assert.equal(answer.statusCode, 403)
})

test('the knobs are described by an OpenAPI document, and refuse what they do not know', async () => {
  const { body } = await w.call('GET', '/simulator')
  assert.equal(body.openapi, '3.1.0')
  assert.ok(body.paths['/simulator/faults'].post.requestBody)
  const bad = await w.call('POST', '/simulator/faults', { effect: 'explode', more: 1 })
  assert.deepEqual([bad.status, bad.body.statusMessage], [400, 'Validation failed'])
  assert.equal((await w.call('GET', '/nowhere')).status, 404)
})
