import assert from 'node:assert/strict'
import { test } from 'node:test'
import { csvOf } from '../../src/ui/csv.ts'

const cells: [text: string | number, cell: string][] = [
  ['Ana', '"Ana"'],
  ['', '""'],
  [-5, '"-5"'],
  ['a "b", c', '"a ""b"", c"'],
  ['=1+1', '"\'=1+1"'],
  ['+55 11 99999', '"\'+55 11 99999"'],
  ['-1', '"\'-1"'],
  ['@SUM(A1)', '"\'@SUM(A1)"'],
  ['  =1', '"\'  =1"'],
  ['\u200b＝1', '"\'\u200b＝1"'],
  ['fine; =1', '"fine;\' =1"'],
  ['fine\n=1', '"fine\n\'=1"'],
  ['a\tb=1', '"a\tb=1"'],
  ['1 - 2', '"1 - 2"'],
]

for (const [text, cell] of cells) {
  test(`the cell ${JSON.stringify(text)} is written so that no spreadsheet runs it`, () => {
    assert.equal(csvOf([[text]]), `\uFEFF${cell}\r\n`)
  })
}

test('a long text takes steps in proportion to its length', () => {
  for (const filler of [' ', ';', '"', '\u200b', '; ']) {
    assert.ok(csvOf([[filler.repeat(200_000)]]).length > 200_000)
  }
})
