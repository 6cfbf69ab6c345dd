import assert from 'node:assert/strict'
import { test } from 'node:test'
import { csvOf } from '../../src/ui/csv.ts'
import { dialablePhone, formatPhone } from '../../src/ui/format/phone.ts'

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
  test(`the cell ${JSON.stringify(text)} is written so that spreadsheets do not run it`, () => {
    assert.equal(csvOf([[text]]), `\uFEFF${cell}\r\n`)
  })
}

test('parsing time is linear in the length of the text', () => {
  for (const filler of [' ', ';', '"', '\u200b', '; ']) {
    assert.ok(csvOf([[filler.repeat(200_000)]]).length > 200_000)
  }
})

test('phones are grouped for reading, without changing digits', () => {
  const table = [
    ['5511955501101', '+55 11 95550-1101'],
    ['551133334444', '+55 11 3333-4444'],
    ['14155552671', '+1 415 555-2671'],
    ['34612345678', '+34 612 345 678'],
    ['5491123456789', '+54 911 234 567 89'],
    ['351912345678', '+351 912 345 678'],
    ['4915112345678', '+49 151 123 456 78'],
    ['447911123456', '+44 791 112 3456'],
    ['12345', '+12345'],
    ['•••••1101', '•••••1101'],
    ['+5511955501101', '+55 11 95550-1101'],
    ['+55 (11) 95550-1101', '+55 (11) 95550-1101'],
    ['', ''],
  ]
  for (const [phone = '', shown] of table) {
    assert.equal(formatPhone(phone), shown)
    assert.equal(formatPhone(phone).replace(/\D/g, ''), phone.replace(/\D/g, ''))
  }
})

test('a copied or edited phone has digits only', () => {
  const table = [
    ['5511955501101', '+5511955501101'],
    ['+5511955501101', '+5511955501101'],
    ['•••••1101', '•••••1101'],
    ['', ''],
  ]
  for (const [phone = '', plain] of table) assert.equal(dialablePhone(phone), plain)
})
