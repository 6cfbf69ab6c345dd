import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { atEnd } from '../support/file-lifecycle.ts'
import { newFolder } from '../support/folder.ts'
import { ask, freePort, newWorkspace, operatorToken, startService } from '../support/program/service.ts'
import { until } from '../support/until.ts'

// Tests the Caddyfile of deploy/compose with a host name that needs no certificate.

const caddyfile = fileURLToPath(new URL('../../../deploy/compose/Caddyfile', import.meta.url))
const hasCaddy = execFileSync('sh', ['-c', 'command -v caddy || true']).length > 0
const skip = hasCaddy ? false : 'Caddy is missing: apt-get install caddy'

test('the proxy passes on client addresses, compressed bodies and live streams', { skip }, async () => {
  const service = await startService({ env: { PARLEY_TRUSTED_PROXIES: '127.0.0.1' } })
  const url = await startCaddy(service.url)
  const { workspaceId, key } = await newWorkspace(service.url)
  const page = await ask(url, '', 'GET /openapi.json', undefined, { 'accept-encoding': 'br' })
  assert.equal(page.headers.get('content-encoding'), 'br')

  const team = `/api/team/v1/workspaces/${workspaceId}`
  const stream = await fetch(`${url}${team}/live`, { headers: { authorization: `Bearer ${operatorToken}` } })
  const frames = stream.body?.pipeThrough(new TextDecoderStream()).getReader()
  const lead = { firstName: 'Ana', phone: '+5581991234567' }
  assert.equal((await ask(url, key, 'POST /api/v1/leads', lead)).status, 201)
  let received = ''
  while (!received.includes('lead.created'))
    received += (await frames?.read())?.value ?? assert.fail(`It ended: ${received}`)
  await frames?.cancel()

  // An address that is not allowed is refused by the client address that the proxy saw, whatever headers it sends.
  const [{ id }] = (await ask(url, operatorToken, `GET ${team}/keys`)).body.keys
  const allowlist = ['203.0.113.7']
  assert.equal((await ask(url, operatorToken, `PATCH ${team}/keys/${id}`, { allowlist })).status, 200)
  const pretending = { 'x-forwarded-for': '203.0.113.7' }
  const statusBy = async (way: string) => (await ask(way, key, 'GET /api/v1/leads', undefined, pretending)).status
  assert.deepEqual([await statusBy(url), await statusBy(service.url)], [401, 200])
})

async function startCaddy(api: string): Promise<string> {
  const url = `http://127.0.0.1:${await freePort()}`
  const folder = await newFolder()
  const caddy = spawn('caddy', ['run', '--adapter', 'caddyfile', '--config', caddyfile], {
    env: { PATH: process.env.PATH, HOME: folder, PARLEY_DOMAIN: url, PARLEY_API: new URL(api).host },
    stdio: 'ignore',
  })
  const gone = once(caddy, 'exit')
  atEnd(async () => {
    caddy.kill('SIGTERM')
    await gone
  })
  await until(async () => (await fetch(`${url}/readyz`).catch(() => null))?.status === 200, 'Caddy')
  return url
}
