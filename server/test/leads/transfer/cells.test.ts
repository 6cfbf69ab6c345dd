import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { csvLine, guardCell, unguardCell } from '../../../src/leads/transfer/file/cells.ts'

const delimiters = [',', ';', '\t'] as const

const cells: [text: string, guarded: string][] = [
  ['Marina', 'Marina'],
  ['', ''],
  ["'", "'"],
  ["O'Neill; 5 - 3", "O'Neill; 5 - 3"],
  ['1.000,-', '1.000,-'],
  ['=1+1', "'=1+1"],
  ["'=1+1", "''=1+1"],
  ['＝1+1', "'＝1+1"],
  ['\u00a0=1+1', "'\u00a0=1+1"],
  ['\u200b@x', "'\u200b@x"],
  ['\n=1+1', "'\n'=1+1"],
  ['\ttext', "'\ttext"],
  [';=1+1', ";'=1+1"],
  ['x;=1+1;y', "x;'=1+1;y"],
  ['x;"=1+1', 'x;\'"=1+1'],
  ['a\r\n- b', "a\r\n'- b"],
  ['a;\u3000－1', "a;'\u3000－1"],
]

for (const [text, guarded] of cells) {
  test(`the cell ${JSON.stringify(text)} is written as ${JSON.stringify(guarded)}`, () => {
    assert.equal(guardCell(text, ','), guarded)
    assert.equal(unguardCell(guarded), text)
  })
}

test('every character that a spreadsheet may read as the start of a formula is guarded', () => {
  for (let code = 0; code <= 0x10ffff; code++) {
    const text = String.fromCodePoint(code)
    if (/^\s*[=+\-@]/.test(text.normalize('NFKC'))) assert.equal(guardCell(text, ','), `'${text}`, code.toString(16))
    if (text.trim() === '' || /\p{Cf}/u.test(text)) assert.match(guardCell(`${text}=1`, ','), /'\s*\p{Cf}?=/u)
  }
})

const letters = ['=', '+', '-', '@', '＝', '\t', '\r', '\n', ' ', '\u00a0', "'", 'a', '"', ',', ';']
const text = fc.string({ unit: fc.constantFrom(...letters) })

test('a written cell is read back unchanged, whatever its content and delimiter', () => {
  fc.assert(
    fc.property(fc.array(text, { minLength: 1 }), fc.constantFrom(...delimiters), (texts, delimiter) => {
      const [read] = parse(csvLine(texts, delimiter), { delimiter }) as string[][]
      assert.deepEqual(read?.map(unguardCell), texts)
    }),
    { numRuns: 500 },
  )
})

test('a line contains no formula, even if a program splits it at another delimiter and ignores quotes', () => {
  fc.assert(
    fc.property(fc.array(text), fc.constantFrom(...delimiters), (texts, delimiter) => {
      for (const cell of texts.map((one) => guardCell(one, delimiter))) {
        assert.doesNotMatch(cell, /^[=+\-@\t\r\n]/)
        for (const other of delimiters.filter((one) => one !== delimiter)) {
          for (const cut of cell.split(new RegExp(`[${other}\r\n]`))) {
            assert.doesNotMatch(cut.replaceAll('"', '').trim(), /^[=+\-@＝]/)
          }
        }
      }
    }),
    { numRuns: 500 },
  )
})
