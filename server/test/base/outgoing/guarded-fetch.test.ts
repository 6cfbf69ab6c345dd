import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openOutgoing } from '../../../src/base/outgoing/guarded-fetch.ts'
import { platformServer, sendJson } from '../../support/channels/platform-server.ts'

const server = await platformServer((asked, response) => sendJson(response, 200, asked.body))
const outgoing = openOutgoing({ allowCidrs: ['127.0.0.0/8', '::1'] })
after(async () => {
  outgoing.close()
  await server.close()
})

const plain = { method: 'POST', headers: {}, body: '{"a":1}', timeoutMs: 5_000, maxAnswerBytes: 1_000 } as const

test('an allowed address is reached, and its answer comes back as it is', async () => {
  const answer = await outgoing.call({ ...plain, url: `${server.baseUrl}/a?b=c`, headers: { 'x-own': '1' } })
  assert.ok(answer.outcome === 'answered')
  assert.deepEqual([answer.status, answer.body.toString(), answer.isWhole], [200, '{"a":1}', true])
  const { url, headers } = server.asked[0] ?? {}
  assert.deepEqual([url, headers?.['x-own'], headers?.['accept-encoding']], ['/a?b=c', '1', 'identity'])
})

test('the same address is refused when it is not allowed', async () => {
  const strict = openOutgoing({ allowCidrs: [] })
  const before = server.asked.length
  const answer = await strict.call({ ...plain, url: server.baseUrl })
  assert.ok(answer.outcome === 'failed')
  assert.deepEqual([answer.error, answer.hasLeft], ['forbidden_address', false])
  assert.equal(server.asked.length, before)
})
