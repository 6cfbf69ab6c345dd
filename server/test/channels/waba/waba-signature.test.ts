import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isSignedBy, parseSignature } from '../../../src/channels/waba/webhook-routes.ts'
import { bytesOf, messages, signatureOf, text } from '../../support/channels/waba-payloads.ts'

const secret = 'an-app-secret'

test('a published HMAC-SHA256 test vector verifies', () => {
  const digest = 'f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8'
  const signature = parseSignature(`sha256=${digest}`)
  assert.ok(signature)
  assert.ok(isSignedBy('key', Buffer.from('The quick brown fox jumps over the lazy dog'), signature))
})

test('only the exact bytes verify: the same JSON serialized again does not', () => {
  const bytes = bytesOf(messages(text('olá / 😀')))
  const signature = parseSignature(signatureOf(secret, bytes))
  assert.ok(signature)
  assert.ok(isSignedBy(secret, bytes, signature))
  assert.ok(!isSignedBy(secret, Buffer.from(JSON.stringify(JSON.parse(bytes.toString()))), signature))
  assert.ok(!isSignedBy('another-secret', bytes, signature))
})

test('an empty secret verifies nothing', () => {
  const signature = parseSignature(signatureOf('x', Buffer.from('a')))
  assert.ok(signature)
  assert.ok(!isSignedBy('', Buffer.from('a'), signature))
})

test('a changed body or signature does not verify', () => {
  const bytes = bytesOf(messages(text('Hi')))
  const right = signatureOf(secret, bytes)
  fc.assert(
    fc.property(fc.nat(bytes.length - 1), fc.nat(31), fc.integer({ min: 1, max: 255 }), (place, half, flip) => {
      const body = Buffer.from(bytes)
      body[place] = (body[place] ?? 0) ^ flip
      const signature = parseSignature(right)
      assert.ok(signature)
      assert.ok(!isSignedBy(secret, body, signature))
      signature[half] = (signature[half] ?? 0) ^ flip
      assert.ok(!isSignedBy(secret, bytes, signature))
    }),
    { numRuns: 2_000 },
  )
})

const hex = 'a'.repeat(64)
for (const header of [
  undefined,
  '',
  hex,
  `sha1=${hex}`,
  `sha256=${hex}a`,
  `sha256=${hex.slice(1)}`,
  `sha256=${hex} `,
  `SHA256=${hex}`,
  `sha256=${'g'.repeat(64)}`,
  [`sha256=${hex}`],
]) {
  test(`a header ${JSON.stringify(header)?.slice(0, 24)} is malformed`, () => {
    assert.equal(parseSignature(header), null)
  })
}
