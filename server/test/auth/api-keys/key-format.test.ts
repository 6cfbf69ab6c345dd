import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { hashKeyValue, isKeyValue, keyLabel, lastFourOf, makeKeyValue } from '../../../src/auth/api-keys/queries.ts'

test('a new key has the published form and passes its own checksum', () => {
  for (let round = 0; round < 200; round++) {
    const value = makeKeyValue()
    assert.match(value, /^plk_[0-9A-Za-z]{22}_[0-9A-Za-z]{6}$/)
    assert.ok(isKeyValue(value))
  }
})

test('keys do not repeat', () => {
  assert.equal(new Set(Array.from({ length: 1000 }, makeKeyValue)).size, 1000)
})

test('one changed character is detected without a database', () => {
  const position = fc.integer({ min: 0, max: 32 })
  fc.assert(
    fc.property(position, fc.constantFrom(...'0aZ_'), (at, letter) => {
      const value = makeKeyValue()
      const typo = value.slice(0, at) + letter + value.slice(at + 1)
      assert.equal(isKeyValue(typo), typo === value)
    }),
  )
})

const notKeys = [
  ['empty', ''],
  ['only the prefix', 'plk_'],
  ['another prefix', makeKeyValue().replace('plk_', 'plt_')],
  ['upper-case prefix', makeKeyValue().replace('plk_', 'PLK_')],
  ['one character short', makeKeyValue().slice(0, -1)],
  ['one character long', `${makeKeyValue()}0`],
  ['a line end behind', `${makeKeyValue()}\n`],
  ['a space in front', ` ${makeKeyValue()}`],
  ['letters outside base62', makeKeyValue().replace(/^plk_./, 'plk_é')],
] as const

for (const [name, text] of notKeys) {
  test(`not a key: ${name}`, () => assert.equal(isKeyValue(text), false))
}

test('a known value keeps its checksum and hash, so that existing keys work after an upgrade', () => {
  const value = 'plk_0000000000000000000000_2Qf73M'
  assert.ok(isKeyValue(value))
  assert.equal(hashKeyValue(value), 'e0d2891714e0fbdfb7d4fa9d36df780bfb52c513139a4db39dbd3f161b1a2849')
})

test('a key is shown as prefix and last four characters', () => {
  assert.equal(keyLabel(lastFourOf('plk_0000000000000000000000_00abcd')), 'plk_…abcd')
})
