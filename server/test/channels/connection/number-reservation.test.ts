import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, test } from 'node:test'
import type { NumberCheck } from '../../../src/channels/adapter.ts'
import { openAdapters } from '../../../src/channels/adapters.ts'
import { syncTemplates } from '../../../src/channels/templates/sync-templates.ts'
import { newestAudit } from '../../support/audit.ts'
import { type ChannelWorld, channelWorld, validNumberCheck } from '../../support/channels/channel-world.ts'
import { platformServer, sendJson } from '../../support/channels/platform-server.ts'
import { testDatabase } from '../../support/database.ts'

const database = await testDatabase()
const platform = await platformServer()
after(() => platform.close())

const input = {
  channel: 'waba',
  name: 'Sales',
  accountId: '102290',
  accessToken: 'an-access-token-of-24-chars',
  appSecret: 'an-app-secret-of-20!',
}
const fresh = (more: object = {}) => ({ ...input, numberId: `1${process.hrtime.bigint()}`, ...more })
const realAdapters = ({ deps }: ChannelWorld) => openAdapters(deps, 'https://parley.example')
function answerChecks({ deps }: ChannelWorld, answer: NumberCheck): void {
  deps.adapters.waba.checkNumber = async () => answer
}

test('an unconfirmed number is not reserved and does not reveal its holder', async () => {
  const [w, squatter] = [await channelWorld(), await channelWorld()]
  const body = fresh({ baseUrl: platform.baseUrl })
  platform.answer = (asked, response) => {
    const isOwner = asked.headers.authorization === `Bearer ${input.accessToken}`
    sendJson(response, isOwner ? 200 : 401, isOwner ? { id: '1' } : { error: { code: 190 } })
  }
  for (const world of [w, squatter]) world.deps.adapters = realAdapters(world)
  const named = { ...body, accessToken: 'a-token-that-is-made-up' }
  const before = await squatter.call('POST', '', named)
  assert.deepEqual([before.statusCode, before.json().connection.state], [201, 'unavailable'])
  const owned = await w.call('POST', '', body)
  assert.deepEqual([owned.statusCode, owned.json().connection.state], [201, 'active'])
  const { id } = before.json().connection
  const told = async () => (await squatter.call('GET', `/${id}`)).json().connection.stateReason
  assert.equal(await told(), 'platform_error_190')
  await squatter.call('DELETE', `/${id}`)
  const after = await squatter.call('POST', '', named)
  assert.deepEqual([after.statusCode, after.json().connection.stateReason], [201, 'platform_error_190'])
  const proved = await squatter.call('PATCH', `/${after.json().connection.id}`, { accessToken: input.accessToken })
  assert.deepEqual([proved.statusCode, proved.json().data], [409, { field: 'numberId' }])
})

test('an unconfirmed number receives no callbacks, but its handshake is answered', async () => {
  const w = await channelWorld()
  answerChecks(w, { problem: 'platform_error_190', number: null, isOnPhone: false })
  const { connection } = (await w.call('POST', '', fresh({ verifyToken: 'a-verify-token' }))).json()
  const url = `/channels/waba/${connection.id}/webhook`
  const body = JSON.stringify({ object: 'whatsapp_business_account', entry: [] })
  const signature = createHmac('sha256', input.appSecret).update(body).digest('hex')
  const headers = { 'x-hub-signature-256': `sha256=${signature}`, 'content-type': 'application/json' }
  const post = async () => (await w.app.inject({ method: 'POST', url, headers, body })).statusCode
  assert.equal(await post(), 404)
  const handshake = 'hub.mode=subscribe&hub.challenge=7&hub.verify_token=a-verify-token'
  assert.equal((await w.app.inject({ url: `${url}?${handshake}` })).body, '7')
  Object.assign(w.deps.adapters.waba, validNumberCheck)
  await w.call('POST', `/${connection.id}/resume`)
  assert.equal(await post(), 200)
})

test('of two concurrent confirmations one wins; a private server confirms nothing about the platform', async () => {
  const [w, other, third] = [await channelWorld(), await channelWorld(), await channelWorld()]
  const body = fresh()
  const answers = await Promise.all([w, other].map((world) => world.call('POST', '', body)))
  assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [201, 409])
  assert.equal((await third.call('POST', '', { ...body, baseUrl: 'http://127.0.0.1:9' })).statusCode, 201)
})

test('a number confirmed late may belong to another connection: the connection says so and stays unavailable', async () => {
  const [w, other] = [await channelWorld(), await channelWorld()]
  const body = fresh()
  answerChecks(w, { problem: 'unreachable', number: null, isOnPhone: false })
  const { connection } = (await w.call('POST', '', body)).json()
  assert.equal((await other.call('POST', '', body)).statusCode, 201)
  Object.assign(w.deps.adapters.waba, validNumberCheck, { fetchTemplates: async () => ({ ok: true, templates: [] }) })
  await syncTemplates(w.deps, { ...connection, workspaceId: w.workspaceId })
  const { state, stateReason } = (await w.find(connection.id)) ?? {}
  assert.deepEqual([state, stateReason], ['unavailable', 'number_connected_elsewhere'])
})

test('changing to another server requires the token again', async () => {
  const w = await channelWorld(platform.baseUrl)
  platform.answer = (_, response) => sendJson(response, 200, { id: '1' })
  const { id } = await w.connect()
  platform.requests = []
  const elsewhere = { baseUrl: platform.baseUrl.replace('127.0.0.1', 'localhost') }
  const refused = await w.call('PATCH', `/${id}`, elsewhere)
  assert.deepEqual([refused.statusCode, refused.json().data.issues[0].path], [400, 'accessToken'])
  assert.equal(platform.requests.length, 0)
  assert.equal((await w.call('PATCH', `/${id}`, { baseUrl: `${platform.baseUrl}/graph` })).statusCode, 200)
  assert.equal(
    (await w.call('PATCH', `/${id}`, { ...elsewhere, accessToken: 'a-token-for-the-other' })).statusCode,
    200,
  )
  assert.equal(platform.requests.at(-1)?.headers.authorization, 'Bearer a-token-for-the-other')
  const [newest] = await newestAudit(database.db.sql, w.workspaceId, 1)
  assert.equal(newest?.action, 'connection.address-changed')
})
