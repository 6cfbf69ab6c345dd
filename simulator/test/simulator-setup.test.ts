import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import type { Loose } from '../../server/test/support/channels/rigs.ts'
import { simulatorWorld } from '../../server/test/support/channels/simulator.ts'

const w = await simulatorWorld()
const { number } = w.simulator
const { numberId, accountId, accessToken, appSecret } = number

const change = (fields: object) => w.call('PATCH', `/simulator/numbers/${numberId}`, fields)
const codeOf = ({ status, body }: { status: number; body: Loose }) =>
  status === 200 ? 'ok' : `${body.error.code}${body.error.error_subcode ? `/${body.error.error_subcode}` : ''}`
const describeToken = async (token = accessToken) =>
  w.graph('GET', `debug_token?input_token=${token}`, undefined, token)

test('a token is described with its kind, permissions and accounts, and refused once it has ended', async () => {
  const { data } = (await describeToken()).body
  assert.deepEqual([data.type, data.expires_at, data.is_valid, data.scopes.length], ['SYSTEM_USER', 0, true, 2])
  assert.deepEqual(data.granular_scopes[0].target_ids, [accountId])
  await change({ tokenState: 'temporary' })
  const temporary = (await describeToken()).body.data
  assert.deepEqual([temporary.type, temporary.expires_at - temporary.issued_at], ['USER', 86_400])
  for (const [tokenState, code] of [
    ['expired', '190/463'],
    ['revoked', '190/460'],
    ['valid', 'ok'],
  ]) {
    await change({ tokenState })
    assert.equal(codeOf(await describeToken()), code)
  }
  assert.equal(codeOf(await w.graph('GET', 'debug_token?input_token=other')), '100')
})

test('a permission that is missing is not listed, and its calls are refused', async () => {
  const listed = async () =>
    (await w.graph('GET', 'me/permissions')).body.data.map(({ permission }: Loose) => permission)
  await change({ missingPermission: 'whatsapp_business_management' })
  assert.deepEqual(await listed(), ['whatsapp_business_messaging'])
  assert.equal(codeOf(await w.graph('GET', `${accountId}/phone_numbers`)), '200')
  await change({ missingPermission: 'whatsapp_business_messaging' })
  assert.equal(codeOf(await w.send({ to: '+447700900123', type: 'text', text: { body: 'Hi' } })), '10')
  await change({ missingPermission: 'none' })
  assert.equal((await listed()).length, 2)
})

test('a proof of the app secret must be right', async () => {
  const proofOf = (secret: string) => createHmac('sha256', secret).update(accessToken).digest('hex')
  const ask = (secret: string) => w.graph('GET', `me?fields=id&appsecret_proof=${proofOf(secret)}`)
  assert.deepEqual([codeOf(await ask(appSecret)), codeOf(await ask('another'))], ['ok', '100'])
})

test('a number is registered with its PIN, or with a new one, and not after too many wrong ones', async () => {
  const register = async (pin: string, more = {}) =>
    codeOf(await w.graph('POST', `${numberId}/register`, { messaging_product: 'whatsapp', pin, ...more }))
  await change({ registered: false, isOnPhone: false, verified: false })
  assert.equal(await register('123456'), '133006')
  await change({ verified: true })
  assert.equal((await w.graph('GET', `${numberId}?fields=status`)).body.status, 'PENDING')
  assert.deepEqual([await register('12'), await register('123456', { messaging_product: 'x' })], ['131009', '100'])
  assert.equal(await register('123456'), 'ok')
  assert.equal((await w.graph('GET', `${numberId}?fields=status`)).body.status, 'CONNECTED')
  assert.equal(codeOf(await w.graph('POST', `${numberId}/deregister`, {})), 'ok')
  const tries = []
  for (let n = 0; n < 6; n++) tries.push(await register('654321'))
  assert.deepEqual(tries, [...Array(5).fill('133005'), '133009'])
  await change({ registered: true, isOnPhone: true, pin: '' })
})

test('a callback URL is set for the account or the number, which has precedence, after it answered the challenge', async () => {
  const urls = async () => (await w.graph('GET', `${numberId}?fields=webhook_configuration`)).body.webhook_configuration
  const before = number.callbackUrl
  assert.deepEqual(await urls(), { application: before })
  const account = { override_callback_uri: `${before}?account`, verify_token: 'x' }
  assert.equal(codeOf(await w.graph('POST', `${accountId}/subscribed_apps`, account)), 'ok')
  assert.deepEqual(await urls(), { whatsapp_business_account: `${before}?account` })
  const { data } = (await w.graph('GET', `${accountId}/subscribed_apps`)).body
  assert.deepEqual(data[0].override_callback_uri, `${before}?account`)
  const own = { webhook_configuration: { override_callback_uri: `${before}?number`, verify_token: 'x' } }
  assert.equal(codeOf(await w.graph('POST', numberId, own)), 'ok')
  assert.equal(codeOf(await w.graph('POST', `${accountId}/subscribed_apps`, account)), 'ok')
  assert.deepEqual(await urls(), { phone_number: `${before}?number` })
  const dead = { override_callback_uri: 'http://127.0.0.1:9/', verify_token: 'x' }
  assert.equal(codeOf(await w.graph('POST', numberId, { webhook_configuration: dead })), '2200')
  await change({ callbackUrl: before })
})

test('contacts and history are sent once each, within a day of connecting', async () => {
  const { id } = await w.customer({ name: 'Rita Prado' })
  await change({ onboardedAt: new Date().toISOString() })
  const request = async (type: string) =>
    codeOf(await w.graph('POST', `${numberId}/smb_app_data`, { messaging_product: 'whatsapp', sync_type: type }))
  assert.deepEqual([await request('smb_app_state_sync'), await request('history')], ['ok', 'ok'])
  await w.simulator.settled()
  const [contacts, history] = w.changes()
  assert.deepEqual(
    [contacts?.field, contacts?.value.state_sync[0].contact.full_name],
    ['smb_app_state_sync', 'Rita Prado'],
  )
  const [{ threads = [] } = {}] = history?.value.history ?? []
  assert.deepEqual([history?.field, threads[0]?.messages[0].text.body], ['history', 'Hello'], id)
  assert.deepEqual([await request('history'), await request('other')], ['2593107', '100'])
  await change({ onboardedAt: new Date(Date.now() - 25 * 3_600_000).toISOString() })
  assert.equal(await request('history'), '2593108')
  await change({ isOnPhone: false })
  assert.equal(await request('history'), '10')
})

test('a number can share the account or only the token of another', async () => {
  const add = async (fields: object) =>
    (await w.call('POST', '/simulator/numbers', { name: 'Two', phone: '15550785001', ...fields })).body
  const same = await add({ sharesAccountOf: numberId })
  const other = await add({ sharesTokenOf: numberId })
  assert.deepEqual([same.accountId === accountId, other.accountId === accountId], [true, false])
  const { data } = (await w.graph('GET', `${accountId}/phone_numbers?fields=id`)).body
  assert.deepEqual(data, [{ id: numberId }, { id: same.numberId }])
  const { granular_scopes: scopes } = (await describeToken()).body.data
  assert.deepEqual(scopes[0].target_ids, [accountId, other.accountId])
})

test('a number is removed with its customers, but not the last one', async () => {
  const added = (await w.call('POST', '/simulator/numbers', { phone: '15550001234', name: 'Short-lived' })).body
  const person = { numberId: added.numberId, name: 'Ana', phone: '5511955501234' }
  const { id } = (await w.call('POST', '/simulator/customers', person)).body
  assert.equal((await w.call('DELETE', `/simulator/numbers/${added.numberId}`)).status, 200)
  assert.equal((await w.call('GET', `/simulator/customers/${id}`)).status, 404)
  assert.equal((await w.call('DELETE', `/simulator/numbers/${added.numberId}`)).status, 404)
  const { numbers } = (await w.call('GET', '/simulator/numbers')).body
  for (const { numberId: other } of numbers.slice(1)) await w.call('DELETE', `/simulator/numbers/${other}`)
  assert.equal((await w.call('DELETE', `/simulator/numbers/${numbers[0].numberId}`)).status, 409)
})
