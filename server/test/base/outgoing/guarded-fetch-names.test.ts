import assert from 'node:assert/strict'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls'
import { openOutgoing } from '../../../src/base/outgoing/guarded-fetch.ts'
import { makeAuthority } from '../../support/outgoing/make-certificate.ts'
import { assertFailure } from '../../support/outgoing/outgoing.ts'
import { okAnswer, openCanary, rawServer } from '../../support/outgoing/raw-server.ts'

// 127.0.0.2 stands for the public internet: it is allowed, while 127.0.0.1 and ::1 of the canaries are not.
const outside = '127.0.0.2'
const receiver = await rawServer(outside)
const canary = await openCanary()
const allowCidrs = [`${outside}/32`]
after(async () => {
  await receiver.close()
  await canary.close()
})

const plain = { method: 'POST', headers: {}, body: '{}', timeoutMs: 10_000, maxAnswerBytes: 1_000 } as const

test('a connection uses the resolved address, and the request the name', async () => {
  receiver.requests = []
  const outgoing = openOutgoing({
    allowCidrs,
    resolve: async (host) => (host === 'hooks.example.com' ? [outside] : []),
  })
  const answer = await outgoing.call({ ...plain, url: `http://hooks.example.com:${receiver.port}/a` })
  assert.equal(answer.outcome, 'answered')
  assert.match(receiver.requests[0] ?? '', new RegExp(`host: hooks.example.com:${receiver.port}`, 'i'))
  assert.equal(
    (await outgoing.call({ ...plain, url: `http://other.example.com:${receiver.port}/a` })).outcome,
    'failed',
  )
  outgoing.close()
})

test('a name that changes to a forbidden address is refused', async () => {
  let asked = 0
  const outgoing = openOutgoing({ allowCidrs, resolve: async () => [asked++ === 0 ? outside : '127.0.0.1'] })
  receiver.answer = (socket) => socket.end(okAnswer().replace('\r\n', '\r\nconnection: close\r\n'))
  const call = () => outgoing.call({ ...plain, url: `http://rebinding.example.com:${canary.port}/` })
  const first = await call()
  assert.ok(first.outcome === 'failed' && first.error === 'connect', 'nobody listens there')
  for (let n = 0; n < 5; n++) {
    const answer = await call()
    assert.ok(answer.outcome === 'failed' && answer.error === 'forbidden_address')
  }
  assert.equal(canary.count(), 0)
  outgoing.close()
})

test('a name that alternates with a private address never reaches it, nor does a redirect', async () => {
  const { port } = canary
  const inside = await rawServer(outside, port)
  inside.answer = (socket) =>
    socket.end(
      `HTTP/1.1 307 Go\r\nlocation: http://127.0.0.1:${port}/\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`,
    )
  let asked = 0
  const outgoing = openOutgoing({ allowCidrs, resolve: async () => [asked++ % 2 === 0 ? outside : '127.0.0.1'] })
  const outcomes = new Set<string>()
  for (let n = 0; n < 100; n++) {
    const answer = await outgoing.call({ ...plain, url: `http://half.example.com:${port}/` })
    outcomes.add(answer.outcome === 'answered' ? String(answer.status) : answer.error)
  }
  assert.deepEqual([...outcomes].sort(), ['307', 'forbidden_address'])
  assert.equal(canary.count(), 0)
  outgoing.close()
  await inside.close()
})

test('unresponsive DNS neither exceeds the timeout of its own call nor delays other calls', async () => {
  const resolve = (host: string) =>
    host.startsWith('slow') ? new Promise<never>(() => {}) : Promise.resolve([outside])
  const outgoing = openOutgoing({ allowCidrs, resolve })
  receiver.answer = (socket) => socket.write(okAnswer())
  const { port } = receiver
  const slow = Array.from({ length: 200 }, (_, n) =>
    outgoing.call({ ...plain, url: `http://slow${n}.example.com:${port}/`, timeoutMs: 60 }),
  )
  assert.equal((await outgoing.call({ ...plain, url: `http://fast.example.com:${port}/` })).outcome, 'answered')
  for (const answer of await Promise.all(slow)) {
    assert.ok(answer.outcome === 'failed' && answer.error === 'timeout' && !answer.wasSent)
  }
  outgoing.close()
})

test('http, unusual ports and internal names reach only what the operator allows', async () => {
  const toPublic = openOutgoing({ allowCidrs, resolve: async () => ['1.1.1.1'] })
  for (const url of [
    'http://hooks.example.com/',
    'https://hooks.example.com:25/',
    'https://intranet/',
    'https://a.internal/',
  ]) {
    const answer = await toPublic.call({ ...plain, url })
    assert.ok(answer.outcome === 'failed' && answer.error === 'forbidden_address' && !answer.wasSent, url)
    assert.match(openOutgoing({ allowCidrs: [] }).refusal(url) ?? '', /PARLEY_ALLOW_CIDRS/)
    assert.match(openOutgoing({ allowCidrs: ['127.0.0.0/8', '::1'] }).refusal(url) ?? '', /PARLEY_ALLOW_CIDRS/)
    assert.equal(openOutgoing({ allowCidrs: ['10.0.0.0/8'] }).refusal(url), null)
  }
  assert.equal(openOutgoing({ allowCidrs: [] }).refusal('https://hooks.example.com:8443/a?b=c'), null)
  assert.equal(openOutgoing({ allowCidrs: [] }).refusal('https://1.1.1.1/'), null)
})

test('the resolver reads the hosts file', async () => {
  const local = await rawServer()
  const outgoing = openOutgoing({ allowCidrs: ['127.0.0.0/8', '::1'] })
  assert.equal((await outgoing.call({ ...plain, url: `http://localhost:${local.port}/` })).outcome, 'answered')
  const strict = openOutgoing({ allowCidrs: [] })
  const answer = await strict.call({ ...plain, url: `https://localhost:${local.port}/` })
  assert.ok(answer.outcome === 'failed' && answer.error === 'forbidden_address')
  outgoing.close()
  await local.close()
})

test('a certificate must be trusted and match the name, which is sent as SNI', async () => {
  const names: unknown[] = []
  const authority = makeAuthority()
  const server = createServer(authority.certify(['hooks.example.com', outside]), (request, response) => {
    names.push((request.socket as TLSSocket).servername, request.headers.host)
    response.end('ok')
  })
  await new Promise<void>((resolve) => server.listen(0, outside, resolve))
  const { port } = server.address() as AddressInfo
  const outgoing = openOutgoing({ allowCidrs, resolve: async () => [outside] })
  const call = (host: string) => outgoing.call({ ...plain, url: `https://${host}:${port}/` })
  const untrusted = await call('hooks.example.com')
  assert.ok(untrusted.outcome === 'failed')
  assert.deepEqual(
    [untrusted.error, untrusted.code, untrusted.wasSent],
    ['tls', 'unable_to_verify_leaf_signature', false],
  )

  const known = getCACertificates('default')
  setDefaultCACertificates([...known, authority.cert])
  assert.equal((await call('hooks.example.com')).outcome, 'answered')
  assert.deepEqual(names, ['hooks.example.com', `hooks.example.com:${port}`])
  assert.equal((await call(outside)).outcome, 'answered')
  const misnamed = await call('other.example.com')
  assert.ok(misnamed.outcome === 'failed' && misnamed.error === 'tls')
  setDefaultCACertificates(known)
  outgoing.close()
  server.closeAllConnections()
  server.close()
})

test('a server that never completes its handshake is a timeout, and nothing was sent', async () => {
  const mute = await rawServer(outside)
  const outgoing = openOutgoing({ allowCidrs })
  const answer = await outgoing.call({ ...plain, url: `https://${outside}:${mute.port}/`, timeoutMs: 60 })
  assert.deepEqual(assertFailure(answer), ['timeout', false])
  await mute.close()
})
