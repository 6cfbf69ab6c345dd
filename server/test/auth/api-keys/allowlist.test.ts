import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileAllowlist } from '../../../src/auth/api-keys/key-cache.ts'
import { normalAddress, normalRange } from '../../../src/base/outgoing/address.ts'

const rows: [entry: string, address: string, inside: boolean][] = [
  ['203.0.113.7', '203.0.113.7', true],
  ['203.0.113.7', '203.0.113.8', false],
  ['203.0.113.7', '::ffff:203.0.113.7', true],
  ['::ffff:203.0.113.7', '203.0.113.7', true],
  ['::ffff:cb00:7107', '203.0.113.7', true],
  ['10.0.0.0/8', '10.255.0.1', true],
  ['10.0.0.0/8', '11.0.0.1', false],
  ['10.1.2.3/8', '10.200.0.1', true],
  ['::ffff:10.0.0.0/104', '10.200.0.1', true],
  ['::ffff:10.0.0.0/104', '11.0.0.1', false],
  ['203.0.113.0/32', '203.0.113.0', true],
  ['203.0.113.0/31', '203.0.113.1', true],
  ['203.0.113.0/31', '203.0.113.2', false],
  ['0.0.0.0/0', '198.51.100.1', true],
  ['0.0.0.0/0', '2001:db8::1', false],
  ['::/0', '2001:db8::1', true],
  ['::/0', '198.51.100.1', false],
  ['2001:db8::1', '2001:0DB8:0:0::1', true],
  ['2001:db8::/33', '2001:db8:7fff::1', true],
  ['2001:db8::/33', '2001:db8:8000::1', false],
]

for (const [entry, address, inside] of rows) {
  test(`allowlist ${entry} ${inside ? 'accepts' : 'refuses'} ${address}`, () => {
    assert.equal(compileAllowlist([normalRange(entry) ?? ''])?.(normalAddress(address)), inside)
  })
}

test('an empty list means any address', () => assert.equal(compileAllowlist([]), null))

test('an unknown address is in no list', () => {
  assert.equal(compileAllowlist(['0.0.0.0/0', '::/0'])?.(null), false)
})

const notRanges = [
  '',
  'example.org',
  '10.0.0.0/33',
  '10.0.0.0/-1',
  '10.0.0.0/',
  '10.0.0.0/8/8',
  '10.0.0/8',
  '2001:db8::/129',
  '::ffff:10.0.0.0/8',
  'fe80::1%eth0',
  '10.0.0.0/8 ',
  '10.0.0.1-10.0.0.9',
]

for (const text of notRanges) {
  test(`not an allowlist entry: "${text}"`, () => assert.equal(normalRange(text), null))
}
