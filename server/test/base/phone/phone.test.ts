import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { maskPhone, parsePhone } from '../../../src/base/phone/phone.ts'
import { anyCharacter } from '../../support/any-character.ts'

type Row = [text: string, country: string | undefined, digits: string | null]

const rows: Row[] = [
  // Formatting is removed, digits stay.
  ['5511987654321', undefined, '5511987654321'],
  ['+5511987654321', undefined, '5511987654321'],
  ['+55 11 98765-4321', undefined, '5511987654321'],
  ['+55 (11) 98765.4321', undefined, '5511987654321'],
  ['(+55) 11 98765 4321', undefined, '5511987654321'],
  ['005511987654321', undefined, '5511987654321'],
  ['00 55 11 98765-4321', undefined, '5511987654321'],
  ['+49 151/123-456-78', undefined, '4915112345678'],
  ['[55] 11 98765-4321', undefined, '5511987654321'],
  [' \t+55 11 98765-4321\n', undefined, '5511987654321'],
  ['+55\u00a011\u202f98765\u20114321', undefined, '5511987654321'],
  ['+55 11 98765\u20134321', undefined, '5511987654321'],
  ['+55 11 98765\u22124321', undefined, '5511987654321'],
  ['\u202a+55 11 98765-4321\u202c', undefined, '5511987654321'],
  ['+55 11 98765-4321', undefined, '5511987654321'],
  ['+44 (0)20 7946 0958', undefined, '442079460958'],
  ['0044 (0)20 7946 0958', undefined, '442079460958'],
  ['11 98765-4321', undefined, '11987654321'],
  ['011 98765-4321', undefined, '011987654321'],
  ['12345678', undefined, '12345678'],
  ['12345678901234567890', undefined, '12345678901234567890'],
  [`+55 11 98765-4321${' '.repeat(47)}`, undefined, '5511987654321'],
  // Digits of any script.
  ['٥٥١١٩٨٧٦٥٤٣٢١', undefined, '5511987654321'],
  ['+٩٦٦ ٥٠ ١٢٣ ٤٥٠١', undefined, '966501234501'],
  ['+९१ ९८७६५ ४३२१०', undefined, '919876543210'],
  ['+𝟧𝟧 𝟣𝟣 𝟫𝟪𝟩𝟨𝟧-𝟦𝟥𝟤𝟣', undefined, '5511987654321'],
  // As spreadsheets store them.
  ['5511987654321.0', undefined, '5511987654321'],
  ['5511987654321.0.0', undefined, '5511987654321'],
  ['5511987654321,00', undefined, '5511987654321'],
  ['+55 11 98765-4321.0', undefined, '5511987654321'],
  ['5.511987654321E+12', undefined, '5511987654321'],
  ['5,511987654321e12', undefined, '5511987654321'],
  ["'+5511987654321", undefined, '5511987654321'],
  ['5.51199E+12', undefined, null],
  ['5511987654321.5', undefined, null],
  // Not phone numbers.
  ['', undefined, null],
  ['   ', undefined, null],
  ['+', undefined, null],
  ['1234567', undefined, null],
  ['+1 234 567', undefined, null],
  ['123456789012345678901', undefined, null],
  ['0001234567', undefined, null],
  ['+55 11 98765-4321 ext. 5', undefined, null],
  ['tel:+5511987654321', undefined, null],
  ['1-800-FLOWERS', undefined, null],
  ['5511+987654321', undefined, null],
  ['++5511987654321', undefined, null],
  ['ana@example.com', undefined, null],
  ['55,11,98765,4321', undefined, null],
  [' (', undefined, null],
  ['( 55 11 98765-4321 (', undefined, '5511987654321'],
  ['(((((((((', undefined, null],
  // Formatting is limited too.
  [`+55 11 98765-4321${' '.repeat(48)}`, undefined, null],
  // National numbers get the country code.
  ['11 98765-4321', 'BR', '5511987654321'],
  ['(11) 98765-4321', 'BR', '5511987654321'],
  ['011 98765-4321', 'BR', '5511987654321'],
  ['0 15 11 98765-4321', 'BR', '5511987654321'],
  ['11 9876-5432', 'BR', '551198765432'],
  ['11 3333-4444', 'BR', '551133334444'],
  ['47 3333-4444', 'BR', '554733334444'],
  ['47 9876-5432', 'BR', '554798765432'],
  ['55 98765-4321', 'BR', '5555987654321'],
  ['55 3222-1234', 'BR', '555532221234'],
  ['0800 123 4567', 'BR', '558001234567'],
  ['(555) 123-4567', 'US', '15551234567'],
  ['202-555-0123', 'US', '12025550123'],
  ['1 202 555 0123', 'US', '12025550123'],
  ['0151/12345678', 'DE', '4915112345678'],
  ['020 7946 0958', 'GB', '442079460958'],
  ['06 1234 5678', 'IT', '390612345678'],
  ['393 123 4567', 'IT', '393931234567'],
  ['912 345 678', 'PT', '351912345678'],
  ['8 916 123-45-67', 'RU', '79161234567'],
  ['098765 43210', 'IN', '919876543210'],
  ['55 1234 5678', 'MX', '525512345678'],
  ['044 55 1234 5678', 'MX', '525512345678'],
  ['01 55 1234 5678', 'MX', '525512345678'],
  ['11 2345-6789', 'AR', '541123456789'],
  ['011 15-2345-6789', 'AR', '5491123456789'],
  // A number with a country code keeps it.
  ['5511987654321', 'BR', '5511987654321'],
  ['551198765432', 'BR', '551198765432'],
  ['+55 11 98765-4321', 'US', '5511987654321'],
  ['+47 3333 4444', 'BR', '4733334444'],
  ['0047 3333 4444', 'BR', '4733334444'],
  ['12025550123', 'BR', '12025550123'],
  ['447911123456', 'BR', '447911123456'],
  ['4915112345678', 'DE', '4915112345678'],
  ['5215512345678', 'MX', '5215512345678'],
  ['5491123456789', 'AR', '5491123456789'],
  ['011 44 20 7946 0958', 'US', '442079460958'],
  // Numbers that cannot be completed stay.
  ['3234-5678', 'BR', '32345678'],
  ['98765-4321', 'BR', '987654321'],
  ['98765-4321', 'XX', '987654321'],
]

test('phones are parsed as in the table', () => {
  for (const [text, country, digits] of rows) assert.equal(parsePhone(text, country), digits, `${text} (${country})`)
})

test('parsing a parsed number changes nothing', () => {
  for (const [text, country] of rows) {
    const digits = parsePhone(text, country)
    if (digits === null || text.trim().startsWith('+') || text.startsWith('00')) continue
    assert.equal(parsePhone(digits, country), digits, `${text} (${country})`)
  }
})

const digitsOf = (minLength: number, maxLength: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength, maxLength })

const separators = ['', ' ', '-', '.', '/', '(', ')', '\u00a0', '\u2011', '\u2013', '[', ']']

test('formatting never matters', () => {
  const phone = digitsOf(8, 20).filter((digits) => !digits.startsWith('0'))
  const spacing = fc.array(fc.constantFrom(...separators), { minLength: 20, maxLength: 20 })
  fc.assert(
    fc.property(phone, spacing, fc.constantFrom('', '+', '00', '(+', '+ '), (digits, spaces, prefix) => {
      // `(0)` and decimals have a meaning of their own.
      const text = prefix + [...digits].map((digit, at) => digit + spaces[at]).join('')
      fc.pre(!text.includes('(0)') && !/\.\d{1,4}$/.test(text.trim()))
      assert.equal(parsePhone(text), digits)
    }),
    { numRuns: 200 },
  )
})

test('parsing is idempotent without a default country', () => {
  fc.assert(
    fc.property(digitsOf(8, 20), (text) => {
      const once = parsePhone(text)
      fc.pre(once !== null)
      assert.equal(parsePhone(once ?? ''), once)
    }),
  )
})

test('a number completed with the code of the default country is unchanged when parsed again', () => {
  const codes = { BR: '55', US: '1', MX: '52', AR: '54' }
  const country = fc.constantFrom('BR' as const, 'US' as const, 'MX' as const, 'AR' as const)
  fc.assert(
    fc.property(digitsOf(8, 14), country, (text, defaultCountry) => {
      const once = parsePhone(text, defaultCountry)
      fc.pre(once !== null && once !== text && once.startsWith(codes[defaultCountry]) && !text.startsWith('00'))
      assert.equal(parsePhone(once ?? '', defaultCountry), once)
    }),
    { numRuns: 200 },
  )
})

test('no text makes parsing throw', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), fc.constantFrom(undefined, 'BR', 'ZZ'), (text, country) => {
      const digits = parsePhone(text, country)
      assert.ok(digits === null || /^\d{8,20}$/.test(digits))
    }),
  )
})

test('a masked phone shows the first 5 and the last 3 digits, a short one only the last 3', () => {
  const masks: [digits: string, masked: string][] = [
    ['5511987654321', '55119*****321'],
    ['551133334444', '55113****444'],
    ['123456789', '12345*789'],
    ['12345678', '*****678'],
    ['1234567', '****567'],
    ['1234', '*234'],
    ['123', '123'],
    ['', ''],
  ]
  for (const [digits, masked] of masks) assert.equal(maskPhone(digits), masked)
  fc.assert(fc.property(digitsOf(0, 20), (digits) => maskPhone(digits).length === digits.length))
})
