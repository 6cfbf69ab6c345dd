import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createMask, maskNumbersIn } from '../../../src/base/phone/mask.ts'
import { normalizeText } from '../../../src/base/text/external-text.ts'

type Row = [text: string, asText: string, asReference: string, asNumber: string]

const rows: Row[] = [
  ['5511990228534', '55119*****534', '55119*****534', '55119*****534'],
  ['+55 11 99022-8534', '55119*****534', '55119*****534', '55119*****534'],
  ['(11) 99022-8534', '********534', '********534', '********534'],
  ['ref-5511990228534', 'ref-*************', 'ref-*************', 'ref-*************'],
  ['+44 20 7946 0958', '44207****958', '44207****958', '44207****958'],
  ['order 1234567', 'order *******', 'order *******', 'order *******'],
  ['order 123456', 'order 123456', 'order 123456', 'order ******'],
  ['Ana 28534', 'Ana *****', 'Ana 28534', 'Ana *****'],
  ['Ana 534', 'Ana 534', 'Ana 534', 'Ana 534'],
  ['1990-05-12', '1990-05-12', '1990-05-12', '*****512'],
  ['2026-01-31 10:30', '2026-01-31 10:30', '2026-01-31 10:30', '2026-01-31 10:30'],
  ['٥٥١١٩٩٠٢٢٨٥٣٤', '55119*****534', '55119*****534', '55119*****534'],
  ['５５１１９９０２２８５３４', '55119*****534', '55119*****534', '55119*****534'],
  // Invisible letters: texts for models omit them, which would join the parts to a number again.
  ['551199\u31640228\u3164534x', '*************x', '*************x', '*************x'],
  ['551199\ufe0f0228\u{e0101}534x', '*************x', '*************x', '*************x'],
  ['Mañana', 'Mañana', 'Mañana', 'Mañana'],
]
for (const [text, ...shown] of rows) {
  test(`a masked reader sees ${JSON.stringify(text)} as ${JSON.stringify(shown[0])}`, () => {
    const mask = () => createMask('5511990228534')
    assert.deepEqual([mask().text(text), mask().reference(text), mask().number(text)], shown)
  })
}

test('a part of a former number is hidden like one of the current number', () => {
  assert.equal(createMask(null, ['5511990228534']).text('Ana 28534'), 'Ana *****')
  assert.equal(createMask('4420794609580', ['5511990228534']).text('Ana 28534'), 'Ana *****')
  assert.equal(createMask(null).text('Ana 28534'), 'Ana 28534')
})

const digits = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 8, maxLength: 15 }).map((all) => all.join(''))
const separators = fc.constantFrom('', ' ', '-', '.', ' - ', ') ', '\u200b', '\u3164', '\u2060', '\u2013', '/')
const around = fc.constantFrom('', 'x', 'ref-', ' @mail.example', ' tel: ', '#', 'née ')

test('no masked text has seven consecutive digits of any number, in any format', () => {
  fc.assert(
    fc.property(digits, digits, fc.array(separators), around, around, (number, phone, between, before, behind) => {
      const written = [...number].map((digit, n) => digit + (between[n] ?? '')).join('')
      const text = before + written + behind
      const mask = createMask(phone)
      for (const shown of [mask.text(text), mask.reference(text), mask.number(text)]) {
        assert.doesNotMatch(normalizeText(shown).replace(/[^\p{L}\p{N}*]/gu, ''), /\d{7}/, text)
      }
    }),
    { numRuns: 500, examples: [['12345678', '5511990228534', [], '', '']] },
  )
})

test('the visible part of a text does not depend on hidden digits', () => {
  fc.assert(
    fc.property(digits, digits, fc.string({ unit: fc.constantFrom(...'0123456789 -ax') }), (middle, other, text) => {
      const [one, two] = [middle, other].map((hidden) => createMask(`55119${hidden.slice(0, 5)}534`))
      assert.deepEqual([one?.text(text), one?.reference(text)], [two?.text(text), two?.reference(text)])
    }),
  )
})

test('numbers in a platform notice are masked', () => {
  const notice = 'Ana changed from +55 11 99022-8534 to 5531988887701 on 2026-01-31'
  assert.equal(maskNumbersIn(notice), 'Ana changed from 55119*****534 to 55319*****701 on 2026-01-31')
})
