import assert from 'node:assert/strict'
import { test } from 'node:test'
import { plainPhone, shownPhone } from '../../src/ui/format/phone.ts'

test('a phone is grouped as people read it, and never changed', () => {
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
    assert.equal(shownPhone(phone), shown)
    assert.equal(shownPhone(phone).replace(/\D/g, ''), phone.replace(/\D/g, ''))
  }
})

test('a phone that is copied or typed over has its digits alone', () => {
  const table = [
    ['5511955501101', '+5511955501101'],
    ['+5511955501101', '+5511955501101'],
    ['•••••1101', '•••••1101'],
    ['', ''],
  ]
  for (const [phone = '', plain] of table) assert.equal(plainPhone(phone), plain)
})
