import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parsePhone } from '../../../src/base/phone/phone.ts'
import { phoneClass, phoneVariants } from '../../../src/base/phone/phone-variants.ts'

const samePhone: [one: string, other: string][] = [
  // Brazil: mobiles with and without the ninth digit.
  ['5511987654321', '551187654321'],
  ['5511998765432', '551198765432'],
  ['5547966665555', '554766665555'],
  ['5599971234567', '559971234567'],
  // Mexico: with and without the 1.
  ['525512345678', '5215512345678'],
  ['523312345678', '5213312345678'],
  // Argentina: with and without the 9, and with the domestic 15.
  ['541123456789', '5491123456789'],
  ['5491123456789', '54111523456789'],
  ['5493514123456', '54351154123456'],
  ['5492966412345', '54296615412345'],
  ['543514123456', '54351154123456'],
  // Ivory Coast, Benin, Vietnam, Gabon and Cameroon have renumbered.
  ['22568012345', '2250768012345'],
  ['22545012345', '2250545012345'],
  ['22501012345', '2250101012345'],
  ['22997012345', '2290197012345'],
  ['841662345678', '84362345678'],
  ['841232345678', '84832345678'],
  ['841282345678', '84782345678'],
  ['24106031234', '24166031234'],
  ['24107031234', '24177031234'],
  ['23777123456', '237677123456'],
]

const otherPhone: [one: string, other: string][] = [
  // Brazilian landlines never had a ninth digit.
  ['5511933334444', '551133334444'],
  ['5511922223333', '551122223333'],
  ['5511955556666', '551155556666'],
  // Another area, another number.
  ['5511987654321', '552187654321'],
  ['5511987654321', '5511987654322'],
  // Area codes have no zero.
  ['5510987654321', '551087654321'],
  // Other countries have no such rule.
  ['351987654321', '35187654321'],
  ['12025550123', '112025550123'],
  ['56987654321', '5687654321'],
  // Neither longer nor shorter numbers.
  ['55119876543210', '5511876543210'],
  ['52551234567', '521551234567'],
  ['5411234567890', '54911234567890'],
  // Landlines of the Ivory Coast, and mobiles of other networks, changed differently.
  ['22520212223', '2252720212223'],
  ['22568012345', '2250568012345'],
  // A 15 elsewhere belongs to the number.
  ['54351234151234', '543512341234'],
  ['54111523456789', '541115234567'],
]

test('numbers that reach the same phone share a class', () => {
  for (const [one, other] of samePhone) assert.equal(phoneClass(one), phoneClass(other), `${one} ${other}`)
})

test('numbers that may reach different phones have different classes', () => {
  for (const [one, other] of otherPhone) assert.notEqual(phoneClass(one), phoneClass(other), `${one} ${other}`)
})

const rest = (length: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: length, maxLength: length })

const phone = fc
  .tuple(
    fc.constantFrom('55', '5511', '55119', '52', '521', '54', '549', '5411', '5411152', '54351', '1', '44'),
    fc.nat(9),
  )
  .chain(([start, length]) => rest(length + 4).map((end) => start + end))
  .filter((digits) => digits.length >= 8)

test('all variants of a number have the same class and variants', () => {
  fc.assert(
    fc.property(phone, (digits) => {
      const variants = phoneVariants(digits)
      assert.equal(variants[0], digits)
      assert.ok(variants.includes(phoneClass(digits)))
      for (const variant of variants) {
        assert.equal(phoneClass(variant), phoneClass(digits))
        assert.deepEqual(phoneVariants(variant).sort(), [...variants].sort())
      }
    }),
    { numRuns: 300 },
  )
})

test('the class of a class is itself', () => {
  fc.assert(fc.property(phone, (digits) => phoneClass(phoneClass(digits)) === phoneClass(digits)))
})

test('all formats of a number have one class', () => {
  const spellings = ['5511987654321', '+55 11 98765-4321', '0055 11 8765-4321', '(11) 98765-4321', '11 8765 4321']
  const classes = spellings.map((text) => phoneClass(parsePhone(text, 'BR') ?? ''))
  assert.deepEqual([...new Set(classes)], ['5511987654321'])
})
