import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clientAddress } from '../../../src/auth/api-keys/authenticate.ts'
import { addressGroup, addressSet, normalAddress } from '../../../src/base/outgoing/address.ts'

const proxies = addressSet(['10.0.0.0/8', '2001:db8:aaaa::/48'])
const nobody = addressSet([])

const rows: [
  guarantee: string,
  socket: string | undefined,
  header: string | string[] | undefined,
  client: string | null,
][] = [
  ['the socket decides without a header', '203.0.113.7', undefined, '203.0.113.7'],
  ['an IPv4-mapped socket is IPv4', '::ffff:203.0.113.7', undefined, '203.0.113.7'],
  ['a header from a stranger is not believed', '203.0.113.7', '198.51.100.1', '203.0.113.7'],
  ['a trusted proxy names the client', '10.0.0.1', '198.51.100.1', '198.51.100.1'],
  ['an IPv4-mapped proxy is trusted', '::ffff:10.0.0.1', '198.51.100.1', '198.51.100.1'],
  ['what the caller wrote in front is ignored', '10.0.0.1', '192.0.2.66, 198.51.100.1', '198.51.100.1'],
  ['a forged trusted hop in front is ignored', '10.0.0.1', '192.0.2.66, 10.9.9.9, 198.51.100.1', '198.51.100.1'],
  ['garbage in front is ignored', '10.0.0.1', 'garbage, 198.51.100.1', '198.51.100.1'],
  ['proxies behind proxies are skipped', '10.0.0.1', '198.51.100.1, 10.0.0.3, 10.0.0.2', '198.51.100.1'],
  ['a repeated header is one list', '10.0.0.1', ['192.0.2.66, 198.51.100.1', '10.0.0.2'], '198.51.100.1'],
  ['a mapped hop is IPv4', '10.0.0.1', '::ffff:198.51.100.1', '198.51.100.1'],
  ['a hop with a port', '10.0.0.1', '198.51.100.1:52011', '198.51.100.1'],
  ['an IPv6 hop with a port', '10.0.0.1', '[2001:DB8::1]:52011', '2001:db8::1'],
  ['an IPv6 proxy is trusted', '2001:db8:aaaa::5', '2001:db8:bbbb::1', '2001:db8:bbbb::1'],
  ['all hops trusted: the first of them', '10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
  ['a hop that is no address tells nothing', '10.0.0.1', '198.51.100.1, unknown', null],
  ['an empty hop tells nothing', '10.0.0.1', '198.51.100.1, ', null],
  ['an empty header tells nothing', '10.0.0.1', '', null],
  ['a closed socket tells nothing', undefined, '198.51.100.1', null],
]

for (const [guarantee, socket, header, client] of rows) {
  test(`client address: ${guarantee}`, () => assert.equal(clientAddress(socket, header, proxies), client))
}

test('without listed proxies even a local socket is not trusted', () => {
  assert.equal(clientAddress('127.0.0.1', '198.51.100.1', nobody), '127.0.0.1')
})

test('addresses are normalized', () => {
  const spellings = ['2001:DB8:0:0:0:0:0:1', '2001:db8::1', '2001:0db8::0001', '2001:db8::1%eth0']
  assert.deepEqual(new Set(spellings.map(normalAddress)), new Set(['2001:db8::1']))
  assert.equal(normalAddress('::ffff:102:304'), '1.2.3.4')
  for (const text of ['', '1.2.3', '01.2.3.4', '1.2.3.4 ', '::g', '[::1]', 'localhost']) {
    assert.equal(normalAddress(text), null, text)
  }
})

test('an IPv6 client cannot evade its limit within its network', () => {
  assert.equal(addressGroup('203.0.113.7'), '203.0.113.7')
  assert.equal(addressGroup('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2::/64')
  assert.equal(addressGroup('2001:db8::1'), '2001:db8:0:0::/64')
  assert.equal(addressGroup('::1'), '0:0:0:0::/64')
  assert.equal(addressGroup('2001:db8:1:2:3:4:5:6', 48), '2001:db8:1::/48')
})
