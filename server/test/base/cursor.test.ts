import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { decodeCursor, encodeCursor } from '../../src/base/cursor.ts'
import { anyCharacter } from '../support/any-character.ts'

const base64url = (text: string): string => Buffer.from(text).toString('base64url')

test('a cursor decodes to its input', () => {
  const item = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 20 }), fc.integer(), fc.boolean(), fc.constant(null))
  fc.assert(
    fc.property(fc.array(item, { maxLength: 5 }), (payload) => {
      const cursor = encodeCursor(payload)
      assert.match(cursor, /^[A-Za-z0-9_-]+$/)
      assert.deepEqual(decodeCursor(cursor), payload)
    }),
  )
})

test('a text that is not a cursor decodes to null', () => {
  const malformed = [
    '',
    ' ',
    'not a cursor',
    base64url('{"a":1}'),
    base64url('"text"'),
    base64url('null'),
    base64url('[1'),
    base64url('[1]x'),
    base64url('\ufeff[1]'),
    Buffer.from([0x5b, 0x22, 0xff, 0x22, 0x5d]).toString('base64url'),
    `${base64url('[1]')}=`,
    ` ${base64url('[1]')}`,
    `${base64url('[1]')}\n`,
    `${base64url('[1]')}A`,
    Buffer.from('["??>>"]').toString('base64'),
    base64url(`["${'x'.repeat(1000)}"]`),
    '🦊',
  ]
  for (const text of malformed) assert.equal(decodeCursor(text), null, text)
})

test('only the canonical base64 encoding of a cursor is accepted', () => {
  // 10 bytes: the last of 14 characters has 4 unused bits.
  const cursor = encodeCursor(['abcdef'])
  const last = cursor.at(-1) ?? ''
  const accepted = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'].filter(
    (letter) => JSON.stringify(decodeCursor(cursor.slice(0, -1) + letter)) === '["abcdef"]',
  )
  assert.deepEqual(accepted, [last])
})

test('no mutation makes decoding throw or return anything but a list or null', () => {
  const cursor = encodeCursor(['createdAt', 'desc', '2026-01-31T10:00:00.000Z', '0198c0de-0000-7000-8000-000000000001'])
  fc.assert(
    fc.property(fc.nat(cursor.length), fc.nat(3), fc.string({ unit: anyCharacter, maxLength: 3 }), (at, cut, added) => {
      const decoded = decodeCursor(cursor.slice(0, at) + added + cursor.slice(at + cut))
      assert.ok(decoded === null || Array.isArray(decoded))
    }),
    { numRuns: 200 },
  )
})

test('encoding refuses a cursor that would be too long to decode', () => {
  assert.throws(() => encodeCursor(['x'.repeat(1000)]), RangeError)
})
