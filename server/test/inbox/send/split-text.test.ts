import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { splitText } from '../../../src/inbox/send/send-checks.ts'

const family = '👨‍👩‍👧‍👦'
const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })
const piece = fc.oneof(
  { arbitrary: fc.constantFrom('\n', '\n\n', '\r\n', ' ', '. ', '! ', '。', '   ', '\t'), weight: 3 },
  { arbitrary: fc.constantFrom(family, 'e\u0301', '🇧🇷', '한', 'ç', '👍🏽', 'क्षि'), weight: 2 },
  { arbitrary: fc.string({ unit: 'grapheme', maxLength: 12 }), weight: 2 },
  { arbitrary: fc.lorem({ maxCount: 6 }), weight: 2 },
)
const text = fc
  .array(piece, { minLength: 1, maxLength: 120 })
  .map((pieces) => pieces.join(''))
  .filter((whole) => whole !== '')
const limit = fc.integer({ min: 40, max: 200 })

test('the joined parts equal the text, and none is longer than the limit', () => {
  fc.assert(
    fc.property(text, limit, (whole, max) => {
      const parts = splitText(whole, max)
      assert.equal(parts.join(''), whole)
      assert.ok(parts.every((part) => part.length > 0 && part.length <= max))
    }),
    { numRuns: 400 },
  )
})

test('no cut is inside a grapheme, unless that is longer than the limit', () => {
  fc.assert(
    fc.property(text, limit, (whole, max) => {
      const all = [...graphemes.segment(whole)]
      fc.pre(all.every(({ segment }) => segment.length < max / 2))
      const starts = new Set(all.map(({ index }) => index))
      let at = 0
      for (const part of splitText(whole, max).slice(0, -1)) {
        at += part.length
        assert.ok(starts.has(at), `cut at ${at}`)
      }
    }),
    { numRuns: 400 },
  )
})

test('no part is blank if the text has something visible within reach', () => {
  fc.assert(
    fc.property(text, limit, (whole, max) => {
      fc.pre(whole.trim() !== '' && !new RegExp(`\\s{${Math.floor(max / 2)}}`).test(whole))
      fc.pre([...graphemes.segment(whole)].every(({ segment }) => segment.length < max / 2))
      assert.ok(splitText(whole, max).every((part) => part.trim() !== ''))
    }),
    { numRuns: 400 },
  )
})

const long = (words: string, count: number) => words.repeat(count)
const rows: [string, string, number, string[]][] = [
  ['a text that fits stays whole', 'short', 10, ['short']],
  ['exactly the limit stays whole', 'x'.repeat(10), 10, ['x'.repeat(10)]],
  ['at a paragraph first', 'one. two\n\nthree. four five', 22, ['one. two\n\n', 'three. four five']],
  ['otherwise at a line', 'one. two\nthree. four five', 22, ['one. two\n', 'three. four five']],
  ['otherwise at a sentence', 'One two. Three four five six', 24, ['One two. ', 'Three four five six']],
  ['otherwise at a space', 'one two three four', 10, ['one two ', 'three four']],
  ['otherwise anywhere', 'x'.repeat(25), 10, ['x'.repeat(10), 'x'.repeat(10), 'x'.repeat(5)]],
  ['the last boundary within reach', 'a\n\nb\n\nc ddddddddd', 10, ['a\n\nb\n\n', 'c ', 'ddddddddd']],
  ['not inside an emoji of several parts', `${long('x', 8)}${family}`, 12, [long('x', 8), family]],
  ['not inside a line break of two characters', `${long('x', 9)}\r\ny`, 10, [long('x', 9), '\r\ny']],
  ['trailing blanks stay with visible text', `${long('x', 10)}   `, 10, [long('x', 9), 'x   ']],
]
for (const [name, whole, max, parts] of rows) {
  test(`splits: ${name}`, () => {
    assert.deepEqual(splitText(whole, max).slice(0, parts.length), parts)
  })
}

test('a grapheme longer than the limit is cut, but no surrogate pair is', () => {
  const monster = `x${'\u{1d167}'.repeat(3000)}`
  const parts = splitText(monster, 4096)
  assert.equal(parts.join(''), monster)
  assert.ok(parts.every((part) => part.isWellFormed() && part.length <= 4096))
})
