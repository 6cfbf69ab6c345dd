import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isAllowedOrigin } from '../../src/agents/mcp/routes.ts'
import { loadConfig } from '../../src/config.ts'
import { agentsWorld } from '../support/agents/agents-world.ts'
import { startNode } from '../support/events/feed-world.ts'
import { callerOf } from '../support/world.ts'

const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }
const publicUrl = 'https://parley.example.com'
const local = [
  'http://localhost:6274',
  'https://localhost',
  'http://127.0.0.1:5173',
  'http://127.1.2.3',
  'http://[::1]:9',
]
const foreign = [
  'null',
  '',
  'https://evil.example',
  'http://localhost.evil.example:6274',
  'http://127.0.0.1.evil.example',
  'http://evil.example/http://localhost',
  'http://localhost@evil.example',
  'http://localhost:6274/',
  'http://128.0.0.1',
  'http://0.0.0.0:6274',
  'http://[::2]',
  'file://localhost',
  'chrome-extension://localhost',
  'parley.example.com',
]

test('local pages may call only while the service listens on loopback', () => {
  for (const host of ['127.0.0.1', '127.0.0.2', 'localhost', '::1']) {
    const settings = { publicUrl, host, allowedOrigins: [] }
    for (const origin of [publicUrl, ...local]) assert.ok(isAllowedOrigin(origin, settings), `${host}: ${origin}`)
    for (const origin of foreign) assert.ok(!isAllowedOrigin(origin, settings), `${host}: ${origin}`)
  }
  for (const host of ['0.0.0.0', '::', '10.0.0.5', '::ffff:10.0.0.5', 'parley.example.com', 'localhost.example.com']) {
    const settings = { publicUrl, host, allowedOrigins: ['https://inspector.example.com'] }
    const allowed = [...local, ...foreign, publicUrl, 'https://inspector.example.com'].filter((origin) =>
      isAllowedOrigin(origin, settings),
    )
    assert.deepEqual(allowed, [publicUrl, 'https://inspector.example.com'], host)
  }
})

test('allowed origins are normalized', () => {
  const read = (PARLEY_ALLOW_ORIGINS: string) => loadConfig({ PARLEY_ALLOW_ORIGINS }).http.allowedOrigins
  assert.deepEqual(read(''), [])
  assert.deepEqual(read('https://Inspector.example.com:443 , vscode-webview://AbC'), [
    'https://inspector.example.com',
    'vscode-webview://abc',
  ])
  for (const wrong of [
    '*',
    'https://*',
    'https://*.example.com',
    'null',
    'example.com',
    'https://a.example/path',
    'a b',
  ])
    assert.throws(() => read(wrong), /PARLEY_ALLOW_ORIGINS must list origins/, wrong)
})

test('an allowed page passes CORS, can read all responses, and needs a key', async () => {
  const w = await agentsWorld()
  const settings = { PARLEY_HOST: '0.0.0.0', PARLEY_ALLOW_ORIGINS: 'https://inspector.example.com' }
  const node = await startNode(w, { config: loadConfig(settings) })
  const call = callerOf(node.app, w.agent.value)
  const asked = {
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization,mcp-method',
  }
  const ask = (origin: string, key?: string) =>
    Promise.all([
      node.app.inject({ method: 'OPTIONS', url: '/mcp', headers: { origin, ...asked } }),
      call('POST', '/mcp', { body: ping, headers: { origin }, ...(key !== undefined && { key }) }),
    ])

  const [checked, answered] = await ask('https://inspector.example.com')
  assert.deepEqual([checked.statusCode, answered.status], [204, 200])
  assert.equal(checked.headers['access-control-allow-headers'], 'authorization,mcp-method')
  const [, refused] = await ask('https://inspector.example.com', 'plk_nobody')
  assert.equal(refused.status, 401)
  for (const { headers } of [checked, answered, refused]) {
    assert.equal(headers['access-control-allow-origin'], 'https://inspector.example.com')
    assert.equal(headers['access-control-allow-credentials'], undefined)
    assert.match(String(headers.vary), /origin/)
  }
  for (const origin of ['http://localhost:6274', 'https://evil.example']) {
    const [unchecked, unanswered] = await ask(origin)
    assert.deepEqual([unchecked.statusCode, unanswered.status], [403, 403], origin)
    assert.equal(unanswered.headers['access-control-allow-origin'], undefined)
  }
})

test('DNS rebinding is rejected by origin', async () => {
  const w = await agentsWorld()
  const headers = { host: 'evil.example:7007', origin: 'http://evil.example:7007' }
  assert.equal((await w.call('POST', '/mcp', { key: w.agent.value, body: ping, headers })).status, 403)
  const own = { host: 'localhost:7007', origin: 'http://localhost:6274' }
  assert.equal((await w.call('POST', '/mcp', { key: w.agent.value, body: ping, headers: own })).status, 200)
})
