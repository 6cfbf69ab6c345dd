import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  foldText,
  grams,
  isUnspaced,
  shortPrefixes,
  shortWordPiece,
  shortWords,
  unspacedPiece,
  unspacedPieces,
} from '../../../src/base/text/search-text.ts'
import { anyCharacter } from '../../support/any-character.ts'

test('text is folded as in the table', () => {
  const rows: [text: string, folded: string][] = [
    ['', ''],
    ['   ', ''],
    ['José da Conceição', 'jose da conceicao'],
    ['Jose\u0301', 'jose'],
    ['  Ana\t\u00a0Maria \n', 'ana maria'],
    ['ana@Example.COM', 'ana@example.com'],
    ['Straße', 'strasse'],
    ['STRASSE', 'strasse'],
    ['Søren Ångström', 'soren angstrom'],
    ['Łódź', 'lodz'],
    ['Đorđe', 'dorde'],
    ['Æsop', 'aesop'],
    ['İstanbul', 'istanbul'],
    ['ISTANBUL', 'istanbul'],
    ['ısparta', 'isparta'],
    ['ﬁnance', 'finance'],
    ['ＡＢＣ', 'abc'],
    ['ΣΊΣΥΦΟΣ', 'σισυφοσ'],
    ['Σίσυφος', 'σισυφοσ'],
    ['Ёлка', 'елка'],
    ['a\u200bb\ufeff', 'ab'],
    ['a\u0000\u0001b', 'a b'],
    ['😀 Ana', '😀 ana'],
    ...['O’Brien', 'O‘Brien', 'OʼBrien', 'O´Brien', 'O`Brien', 'O′Brien', 'O＇Brien'].map((name): [string, string] => [
      name,
      "o'brien",
    ]),
    ...['Jean‐Luc', 'Jean‑Luc', 'Jean–Luc', 'Jean—Luc', 'Jean−Luc', 'Jean－Luc'].map((name): [string, string] => [
      name,
      'jean-luc',
    ]),
    ...['“Zé”', '„Zé“', '«Zé»'].map((name): [string, string] => [name, '"ze"']),
    ['٠١٢ ९', '012 9'],
    ['a\u3164b\u2800c\ufe0fd\u{e0100}e', 'abcde'],
  ]
  for (const [text, folded] of rows) assert.equal(foldText(text), folded, text)
})

test('folding is idempotent for every character', () => {
  // The planes in between contain no characters.
  for (let start = 0; start < 0x110000; start += 64) {
    if (start === 0x40000) start = 0xe0000
    const points = Array.from({ length: 64 }, (_, offset) => start + offset)
    const folded = foldText(points.map((point) => `a${String.fromCodePoint(point)}`).join(''))
    assert.equal(foldText(folded), folded, `U+${start.toString(16)}`)
  }
  fc.assert(fc.property(fc.string({ unit: anyCharacter }), (text) => foldText(foldText(text)) === foldText(text)))
})

test('accents and case of a name never matter', () => {
  const name = fc.string({ unit: fc.constantFrom(...'abcçãéêíóõúüñß -') })
  fc.assert(
    fc.property(name, (text) => {
      assert.equal(foldText(text.toUpperCase()), foldText(text))
      assert.equal(foldText(text.normalize('NFD')), foldText(text))
    }),
  )
})

test('grams are the distinct runs of three code points', () => {
  assert.deepEqual(grams('abcab'), ['abc', 'bca', 'cab'])
  assert.deepEqual(grams('aaaa'), ['aaa', 'aaa'])
  assert.deepEqual(grams('😀ab😀'), ['😀ab', 'ab😀'])
  for (const short of ['', 'a', 'ab', '😀😀']) assert.deepEqual(grams(short), [])
})

test('a text that contains another contains all its grams', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '😀'), maxLength: 12 })
  fc.assert(
    fc.property(word, word, word, (before, within, after) => {
      const all = new Set(grams(before + within + after))
      assert.ok(grams(within).every((gram) => all.has(gram)))
    }),
  )
})

test('short prefixes are never grams of any folded text', () => {
  assert.equal(shortPrefixes('').length, 0)
  assert.equal(shortPrefixes('a').length, 1)
  const [one, two] = shortPrefixes('😀bc')
  assert.ok(one?.endsWith('😀') && two?.endsWith('😀b'))
  assert.deepEqual(shortPrefixes('ab')[0], shortPrefixes('ax')[0])
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), fc.string({ unit: anyCharacter, minLength: 1 }), (text, other) => {
      const found = new Set(grams(foldText(text)))
      assert.ok(shortPrefixes(foldText(other)).every((prefix) => !found.has(prefix)))
    }),
  )
})

test('short words are the words of one and two letters, as in the table', () => {
  const rows: [line: string, words: string[]][] = [
    ['', []],
    ['marina', []],
    ['li wei', ['li']],
    ['bo bo', ['bo']],
    ['j. r. ewing', ['j.', 'r.', 'j', 'r']],
    ['anna-li (bo)', ['li', 'bo']],
    ["o'brien d’avila", []],
    ["x' y", ["x'", 'y']],
    ['ян эдвард', ['ян']],
    ['🙂 ana🙂', ['🙂']],
    ['7 77 777', ['7', '77']],
  ]
  for (const [line, words] of rows) assert.deepEqual(shortWords(line), words, line)
})

test('every text that contains a short text of a script without spaces has its token, which is not a gram or short word', () => {
  const letter = fc.constantFrom(...'王伟りトสม이ab '.split(''), '🙂', '𠮷')
  const text = fc.string({ unit: letter, maxLength: 5 }).map(foldText)
  fc.assert(
    fc.property(text, text, fc.string({ unit: letter, minLength: 1, maxLength: 2 }), (before, after, term) => {
      const within = foldText(term)
      fc.pre([...within].length <= 2 && isUnspaced(within))
      const line = before + within + after
      const pieces = unspacedPieces(line)
      assert.ok(pieces.includes(unspacedPiece(within)))
      const others = [...grams(line), ...shortPrefixes(line), ...shortWords(line).map(shortWordPiece)]
      assert.ok(!pieces.some((piece) => others.includes(piece)))
    }),
  )
  assert.deepEqual(unspacedPieces('ana li'), [])
})
