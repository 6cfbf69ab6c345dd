import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { createAddressFilter, parseTarget } from '../../../src/base/outgoing/guard.ts'
import { openOutgoing } from '../../../src/base/outgoing/guarded-fetch.ts'
import { openCanary } from '../../support/outgoing/raw-server.ts'
import { innerAddresses, otherHosts, spellings, words } from './hostile-addresses.ts'

const canary = await openCanary()
const own = await openCanary()
// All names resolve to the canaries, so a hostile URL that is parsed as a name reaches them too.
const outgoing = openOutgoing({ allowCidrs: [], resolve: async () => ['127.0.0.1', '::1'] })
after(async () => {
  outgoing.close()
  await canary.close()
  await own.close()
})

const plain = { method: 'POST', headers: {}, body: '{}', timeoutMs: 5_000, maxAnswerBytes: 1_000 } as const
const { port } = canary

const hosts = [...spellings.flatMap(([, write]) => innerAddresses.map(write)), ...otherHosts]
const urls = [
  ...hosts.flatMap((host) => [`https://${host}:${port}/hook`, `http://${host}:${port}/hook`]),
  ...words(`
    https://example.com@127.0.0.1:${port}/ https://127.0.0.1:${port}@example.com/ https://a:b@127.0.0.1:${port}
    https://example.com:443@127.0.0.1:${port}/ https://@127.0.0.1:${port}/ https://127.0.0.1:${port}#@example.com/
    https://127.0.0.1:${port}/?@example.com https://example.com\\@127.0.0.1:${port}/ https:/127.0.0.1:${port}/
    https:127.0.0.1:${port}/ https:\\\\127.0.0.1:${port}\\ hTTps://[::1]:${port} //127.0.0.1:${port}/
    ftp://127.0.0.1:${port}/ file:///etc/passwd gopher://127.0.0.1:${port}/_ ws://127.0.0.1:${port}/ data:,a
    unix:/run/a.sock http://unix:/run/a.sock:/ javascript:alert(1) blob:https://127.0.0.1:${port}/a https://
    https://127.0.0.1:${port}/${'a'.repeat(2_048)} https://[::ffff:7f00:1]:${port}/ https://127.0.0.1:0${port}/`),
  ...['', `\u0000https://127.0.0.1:${port}/`, ` https://127.0.0.1:${port}/`],
  ...[`https://127.0.\t0.1:${port}/`, `https://127.0.0.1\n:${port}/`],
]

test('no hostile URL is called, and no form accepts one whose host is an address', async () => {
  assert.ok(new Set(urls).size > 1_000, `${urls.length} URLs`)
  for (const url of urls) {
    const answer = await outgoing.call({ ...plain, url })
    assert.ok(answer.outcome === 'failed', url)
    assert.match(answer.error, /^(?:forbidden|invalid)_address$/, url)
    assert.equal(answer.wasSent, false, url)
  }
  assert.equal(canary.count(), 0)
})

test('the canary detects calls', async () => {
  const allowed = openOutgoing({ allowCidrs: ['127.0.0.1'] })
  await allowed.call({ ...plain, url: `http://127.0.0.1:${own.port}/` })
  assert.equal(own.count(), 1)
  allowed.close()
})

test('a form explains the refusal of every hostile host', () => {
  for (const host of hosts) {
    const url = `https://${host}:${port}/hook`
    const target = parseTarget(url)
    // A name may resolve to anything, which only the call checks.
    const isName = !('refused' in target) && !target.isLiteral && target.restriction === null
    assert.equal(outgoing.refusal(url) === null, isName, url)
    assert.ok(!isName, `${url} was taken for a name`)
  }
  assert.equal(
    outgoing.refusal('https://10.0.0.5/hook'),
    'names the address 10.0.0.5, which is private; an operator may allow it with PARLEY_ALLOW_CIDRS',
  )
})

test('a name is refused when any of its addresses is not public', async () => {
  const bad = [
    ...innerAddresses,
    ...innerAddresses.map((address) => `::ffff:${address}`),
    '::1',
    'fe80::1%lo',
    'fd00::1',
    '64:ff9b::7f00:1',
  ]
  const lists = bad.flatMap((address) => [
    [address],
    ['1.1.1.1', address],
    [address, '1.1.1.1'],
    ['2606:4700::1', '1.1.1.1', address],
  ])
  for (const addresses of lists) {
    const rebinding = openOutgoing({ allowCidrs: [], resolve: async () => addresses })
    const answer = await rebinding.call({ ...plain, url: `https://hooks.example.com:${port}/` })
    assert.ok(answer.outcome === 'failed' && answer.error === 'forbidden_address', addresses.join())
  }
  assert.equal(canary.count(), 0)
})

test('a name without addresses, or with invalid ones, is a DNS failure', async () => {
  for (const resolve of [async () => [], () => Promise.reject(new Error('ENOTFOUND'))]) {
    const answer = await openOutgoing({ allowCidrs: [], resolve }).call({ ...plain, url: 'https://hooks.example.com' })
    assert.ok(answer.outcome === 'failed' && answer.error === 'dns' && !answer.wasSent)
  }
  const garbage = openOutgoing({ allowCidrs: [], resolve: async () => ['localhost'] })
  const answer = await garbage.call({ ...plain, url: 'https://hooks.example.com' })
  assert.ok(answer.outcome === 'failed' && answer.error === 'forbidden_address')
})

const judge = createAddressFilter([])
const octet = fc.integer({ min: 0, max: 255 })
const anyIpv4 = fc.tuple(octet, octet, octet, octet).map((parts) => parts.join('.'))

test('every form of an IPv4 address is checked as the address, and an embedded one is never public', () => {
  fc.assert(
    fc.property(anyIpv4, (address) => {
      for (const [name, write] of spellings) {
        const target = parseTarget(`https://${write(address)}/`)
        assert.ok(!('refused' in target) && target.isLiteral, name)
        const isCarrier = /compatible|SIIT|NAT64|6to4|Teredo/.test(name)
        const expected = isCarrier ? false : judge(address) === 'public'
        assert.equal(judge(target.host) === 'public', expected, `${name}: ${target.host}`)
      }
    }),
    { numRuns: 100 },
  )
})

test('an allowed range overrides the table in every form, and allows nothing else', () => {
  const allowing = createAddressFilter(['10.1.0.0/16', '::ffff:192.168.7.0/120', 'fd00:1::/32', '169.254.169.254'])
  for (const address of [
    '10.1.2.3',
    '::ffff:10.1.2.3',
    '::ffff:a01:203',
    '192.168.7.9',
    'fd00:1::5',
    '169.254.169.254',
  ]) {
    assert.equal(allowing(address), 'allowed', address)
  }
  for (const address of ['10.2.0.1', '::10.1.2.3', '64:ff9b::a01:203', '192.168.8.1', 'fd00:2::5', '169.254.169.253']) {
    assert.equal(typeof allowing(address), 'object', address)
  }
  assert.equal(createAddressFilter(['::/0'])('10.1.2.3') === 'allowed', false)
  assert.throws(() => createAddressFilter(['::ffff:0:0/90']), /PARLEY_ALLOW_CIDRS/)
})
