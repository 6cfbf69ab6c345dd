import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatorWorld } from '../../server/test/support/channels/simulator.ts'

const w = await simulatorWorld()
const { simulator } = w
const fault = (body: object) => w.call('POST', '/simulator/faults', body)
const zoe = await w.customer()

test('a fault refuses the next calls with its code or another status, and is used up', async () => {
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

test('a fault of one recipient or of templates affects no other calls while it lasts', async () => {
  const other = await w.customer()
  const { body } = await fault({ effect: 'refuse', code: 131056, to: zoe.phone, times: null })
  assert.equal((await w.text(other.phone, 'x')).status, 200)
  for (const _ of [1, 2]) assert.equal((await w.text(`+${zoe.phone}`, 'x')).body.error.code, 131056)
  assert.equal((await w.call('DELETE', `/simulator/faults/${body.id}`)).status, 200)
  await fault({ effect: 'refuse', code: 80007, on: 'templates' })
  assert.equal((await w.text(zoe.phone, 'x')).status, 200)
  const path = `${simulator.number.accountId}/message_templates`
  assert.equal((await w.graph('GET', path)).body.error.code, 80007)
})

test('the answer can be an error or an HTML page, whether or not the message is sent, or the message fails later', async () => {
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

test('the answer can be invalid JSON, and the connection can break before or after the message is accepted', async () => {
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

test('a simulator stops while calls hang and webhooks are pending', async () => {
  const other = await simulatorWorld({ retryMs: [3_600_000] })
  const { id, phone } = await other.customer()
  await other.call('POST', '/simulator/faults', { effect: 'hang' })
  const hanging = other.text(phone, 'x')
  other.answers.push(500)
  await other.call('POST', `/simulator/customers/${id}/messages`, { text: 'x' })
  await Promise.all([assert.rejects(hanging, TypeError), other.simulator.stop()])
})

test('pages of other sites can access neither controls nor phones', async () => {
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

test('a changed status of a number is reported and announced', async () => {
  const { numberId, phone } = simulator.number
  await simulator.settled()
  w.received.length = 0
  const changes = { qualityRating: 'RED', messagingLimit: 'TIER_250', canSend: 'LIMITED', problem: 'Low quality.' }
  assert.equal((await w.call('PATCH', `/simulator/numbers/${numberId}`, changes)).status, 200)
  await simulator.settled()
  const { body } = await w.graph('GET', `${numberId}?fields=quality_rating,throughput,health_status`)
  assert.deepEqual(
    [body.quality_rating, body.throughput, body.health_status.can_send_message, body.display_phone_number],
    ['RED', { level: 'STANDARD' }, 'LIMITED', undefined],
  )
  const announced = w.changes()
  assert.deepEqual(
    announced.map(({ field, value }) => [
      field,
      value.display_phone_number,
      value.max_daily_conversations_per_business,
    ]),
    [['phone_number_quality_update', phone, 'TIER_250']],
  )
})

test('a restriction is announced with all others of the account, and holds for its other numbers', async () => {
  const { numberId } = simulator.number
  const { body: other } = await w.call('POST', '/simulator/numbers', {
    ...{ name: 'Second shop', phone: '15550783999', sharesAccountOf: numberId },
  })
  const announced = async (restrictions: string[]) => {
    await simulator.settled()
    w.received.length = 0
    assert.equal((await w.call('PATCH', `/simulator/numbers/${numberId}`, { restrictions })).status, 200)
    await simulator.settled()
    return w
      .changes()
      .map(({ field, value }) => [
        ...[field, value.event],
        ...value.restriction_info.map((one: { restriction_type: string }) => one.restriction_type),
      ])
  }
  const both = ['RESTRICTED_BIZ_INITIATED_MESSAGING', 'RESTRICTED_ADD_PHONE_NUMBER_ACTION']
  assert.deepEqual(await announced(both), [['account_update', 'ACCOUNT_RESTRICTION', ...both]])
  assert.deepEqual(simulator.platform.world.numbers.get(other.numberId)?.restrictions, both)
  assert.deepEqual(await announced([]), [['account_update', 'ACCOUNT_RESTRICTION']])
  assert.equal((await w.call('PATCH', `/simulator/numbers/${numberId}`, { restrictions: ['OTHER'] })).status, 400)
})
