import assert from 'node:assert/strict'
import { createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { DecryptionError, type EncryptionContext, UnknownKeyVersion } from '../../../src/base/encryption/encrypt.ts'
import { createKeyring, type Keyring, type Secret } from '../../../src/base/encryption/keyring.ts'
import { anyCharacter } from '../../support/any-character.ts'

const scope = '0198c0de-0000-7000-8000-000000000001'
const otherScope = '0198c0de-0000-7000-8000-000000000002'
const place: EncryptionContext = { table: 'leads', row: '0198c0de-0000-7000-8000-00000000000a', column: 'personal' }

const secret = (version: number, current = true): Secret => ({ version, bytes: randomBytes(32), current })
const keyringOf = (scopeId = scope): Keyring =>
  createKeyring(scopeId, { data: [secret(1)], index: [secret(1)], stable: [secret(1)] })

test('any bytes decrypt to themselves', () => {
  const keyring = keyringOf()
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (plain) => {
      assert.deepEqual(keyring.decrypt(place, keyring.encrypt(place, plain)), Buffer.from(plain))
    }),
  )
  for (const text of ['', 'José 😀', '\u0000\u0000', 'x'.repeat(10_000)]) {
    assert.equal(keyring.decryptText(place, keyring.encrypt(place, text)), text)
  }
})

test('a value that the driver returns as Uint8Array decrypts too', () => {
  const keyring = keyringOf()
  assert.equal(keyring.decryptText(place, new Uint8Array(keyring.encrypt(place, 'Ana'))), 'Ana')
})

test('a ciphertext reveals the length only to the next 32 bytes, and no two are equal', () => {
  const keyring = keyringOf()
  const rows: [plainBytes: number, sealedBytes: number][] = [
    [0, 65],
    [1, 65],
    [31, 65],
    [32, 97],
    [63, 97],
    [64, 129],
  ]
  for (const [plainBytes, sealedBytes] of rows) {
    assert.equal(keyring.encrypt(place, 'a'.repeat(plainBytes)).length, sealedBytes)
  }
  const nonces = Array.from({ length: 2000 }, () => keyring.encrypt(place, 'Ana').subarray(5, 17).toString('hex'))
  assert.equal(new Set(nonces).size, nonces.length)
})

test('a value with a flipped bit does not decrypt', () => {
  const keyring = keyringOf()
  for (const plain of ['Ana Souza', 'Ana Souza, ana@example.com, 5511987654321', 'x'.repeat(100)]) {
    const sealed = keyring.encrypt(place, plain)
    for (let bit = 0; bit < sealed.length * 8; bit++) {
      const flipped = Buffer.from(sealed)
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      assert.ok(!opens(keyring, place, flipped), `bit ${bit}`)
    }
  }
})

test('a truncated, extended or replaced value does not decrypt', () => {
  const keyring = keyringOf()
  const sealed = keyring.encrypt(place, 'Ana')
  for (let length = 0; length < sealed.length; length++) assert.ok(!opens(keyring, place, sealed.subarray(0, length)))
  assert.ok(!opens(keyring, place, Buffer.concat([sealed, Buffer.alloc(1)])))
  fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => !opens(keyring, place, bytes)))
})

test('a value moved to another row, column, table or workspace does not decrypt', () => {
  const keyring = keyringOf()
  const sealed = keyring.encrypt(place, 'Ana')
  const elsewhere: EncryptionContext[] = [
    { ...place, row: '0198c0de-0000-7000-8000-00000000000b' },
    { ...place, row: '' },
    { ...place, column: 'notes' },
    { ...place, table: 'contacts' },
    { table: 'lead', row: `s${place.row}`, column: place.column },
    { table: place.column, row: place.row, column: place.table },
  ]
  for (const wrong of elsewhere) assert.ok(!opens(keyring, wrong, sealed), JSON.stringify(wrong))

  const shared = [secret(1)]
  const here = createKeyring(scope, { data: shared, index: shared, stable: [secret(1)] })
  const there = createKeyring(otherScope, { data: shared, index: shared, stable: [secret(1)] })
  assert.ok(!opens(there, place, here.encrypt(place, 'Ana')), 'not even under the very same secret')
})

test('old versions still decrypt, new values use the current one, and unknown ones have their own error', () => {
  const [first, second] = [secret(1, false), secret(2, true)]
  const before = createKeyring(scope, { data: [{ ...first, current: true }], index: [secret(1)], stable: [secret(1)] })
  const after = createKeyring(scope, { data: [first, second], index: [secret(1)], stable: [secret(1)] })
  const [oldValue, newValue] = [before.encrypt(place, 'old'), after.encrypt(place, 'new')]
  assert.equal(after.decryptText(place, oldValue), 'old')
  assert.equal(after.decryptText(place, newValue), 'new')
  assert.equal(after.dataVersion, 2)
  assert.throws(() => before.decrypt(place, newValue), UnknownKeyVersion)
})

test('the error of a broken value names its column and nothing of the value', () => {
  const keyring = keyringOf()
  const sealed = keyring.encrypt(place, 'Ana')
  assert.throws(() => keyring.decrypt({ ...place, column: 'notes' }, sealed), {
    message: 'Cannot decrypt a value of leads.notes',
  })
})

test('a keyring without current secrets is refused', () => {
  assert.throws(
    () => createKeyring(scope, { data: [], index: [secret(1)], stable: [secret(1)] }),
    /no current data secret/,
  )
  assert.throws(
    () => createKeyring(scope, { data: [secret(1)], index: [secret(1, false)], stable: [secret(1)] }),
    /no current index secret/,
  )
})

test('a blind index is the same for the same text, and differs by label, text, version and workspace', () => {
  const data = [secret(1)]
  const index = [secret(1, false), secret(2)]
  const keyring = createKeyring(scope, { data, index, stable: [secret(1)] })
  const again = createKeyring(scope, { data, index, stable: [secret(1)] })
  const reference = keyring.exact('phone', '5511987654321')
  assert.equal(reference.length, 16)
  assert.deepEqual(again.exact('phone', '5511987654321'), reference)
  assert.deepEqual(again.exact('phone', '5511987654321', 2), reference)
  const others = [
    keyring.exact('email', '5511987654321'),
    keyring.exact('phone', '5511987654322'),
    keyring.exact('phone', '5511987654321', 1),
    keyringOf().exact('phone', '5511987654321'),
    createKeyring(otherScope, { data, index, stable: [secret(1)] }).exact('phone', '5511987654321'),
  ]
  for (const other of others) assert.notDeepEqual(other, reference)
})

test('tokens are ascending, distinct 32-bit integers, one per gram, whatever the order of the grams', () => {
  const keyring = keyringOf()
  const gram = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 3 })
    .filter((text) => Buffer.byteLength(text) <= 12)
  fc.assert(
    fc.property(fc.array(gram, { maxLength: 60 }), (grams) => {
      const tokens = keyring.tokens(grams)
      assert.deepEqual(keyring.tokens([...grams].reverse()), tokens)
      assert.equal(tokens.length, new Set(grams).size)
      assert.deepEqual(
        tokens,
        [...new Set(tokens)].sort((a, b) => a - b),
      )
      assert.ok(tokens.every((token) => token === (token | 0)))
    }),
    // Two of 60 grams share a 32-bit token once in two million sets.
    { numRuns: 100 },
  )
  assert.deepEqual(keyring.tokens([]), [])
})

test('tokens of two workspaces or two index versions have nothing in common', () => {
  const grams = Array.from({ length: 200 }, (_, number) => `g${number}`)
  const data = [secret(1)]
  const index = [secret(1, false), secret(2)]
  const keyring = createKeyring(scope, { data, index, stable: [secret(1)] })
  const tokens = new Set(keyring.tokens(grams))
  assert.deepEqual(keyring.indexVersions, [1, 2])
  const others = [
    createKeyring(otherScope, { data, index, stable: [secret(1)] }).tokens(grams),
    keyring.tokens(grams, 1),
    keyringOf().tokens(grams),
  ]
  // One pair of 200 × 200 is equal by chance once in 100,000 runs; two never are.
  for (const other of others) assert.ok(other.filter((token) => tokens.has(token)).length < 2)
})

test('tokens do not change between versions of the program, so stored ones stay valid', () => {
  const fixed: Secret = { version: 1, bytes: Buffer.alloc(32, 7), current: true }
  const keyring = createKeyring(scope, { data: [fixed], index: [fixed], stable: [fixed] })
  assert.deepEqual(
    keyring.tokens(['abc', 'ção', '😀ab', '\u0001a', '7', '12345678901234']),
    [-1722366959, -224245670, 944327134, 1312936532, 1533062594, 1844336009],
  )
})

test('grams that differ only in trailing zero bytes have different tokens, and long ones are refused', () => {
  const keyring = keyringOf()
  assert.equal(keyring.tokens(['a', 'a\u0000', 'a\u0000\u0000', '😀😀😀']).length, 4)
  assert.throws(() => keyring.tokens(['123456789012345']), RangeError)
  assert.throws(() => keyring.tokens(['abc'], 7), /version 7 is not known/)
})

function opens(keyring: Keyring, where: EncryptionContext, sealed: Uint8Array): boolean {
  try {
    keyring.decrypt(where, sealed)
    return true
  } catch (error) {
    assert.ok(error instanceof DecryptionError, String(error))
    return false
  }
}

test('a digest is the first half of an HMAC-SHA-256, for texts of any length', () => {
  const index = secret(1)
  const keyring = createKeyring(scope, { data: [secret(1)], index: [index], stable: [secret(1)] })
  const salt = Buffer.from(scope.replaceAll('-', ''), 'hex')
  const key = Buffer.from(hkdfSync('sha256', index.bytes, salt, 'parley exact phone', 32))
  const isHmac = (text: string) => {
    assert.deepEqual(keyring.exact('phone', text), createHmac('sha256', key).update(text).digest().subarray(0, 16))
  }
  // Around the length above which a text no longer fits the reused buffer, and a short text after a long one.
  for (const length of [0, 1, 55, 56, 64, 170, 171, 511, 512, 513, 5000, 3]) {
    isHmac('5'.repeat(length))
    isHmac('é'.repeat(length))
    isHmac('字'.repeat(length))
  }
  fc.assert(fc.property(fc.string({ unit: anyCharacter }), isHmac))
})
