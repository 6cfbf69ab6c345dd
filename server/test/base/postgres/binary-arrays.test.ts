import assert from 'node:assert/strict'
import { test } from 'node:test'
import { byteaArray, timestampArray } from '../../../src/base/postgres/values.ts'
import { emptyDatabase } from '../../support/database.ts'

const { db } = await emptyDatabase()

const bytes: [what: string, values: (Buffer | null)[]][] = [
  ['none', []],
  ['one', [Buffer.from('a')]],
  ['a null alone', [null]],
  [
    'nulls, an empty one, and every byte',
    [null, Buffer.alloc(0), Buffer.from(Array.from({ length: 256 }, (_, n) => n))],
  ],
  ['a thousand', Array.from({ length: 1000 }, (_, n) => Buffer.alloc(n % 50, n))],
]
for (const [what, values] of bytes) {
  test(`the database reads an array of bytes correctly: ${what}`, async () => {
    const [row] = await db.sql`select ${byteaArray(values)}::bytea[] as taken`
    assert.deepEqual(row?.taken, values)
    const rows = await db.sql`select * from unnest(${byteaArray(values)}::bytea[]) as n (value)`
    assert.deepEqual(
      rows.map((one) => one.value),
      values,
    )
  })
}

const times: [what: string, values: (string | null)[]][] = [
  ['none', []],
  ['a null alone', [null]],
  ['one between nulls', [null, '2026-11-22T18:44:44.123Z', null]],
  ['long before 1970, and just before 2000', ['1066-10-14T09:00:00.001Z', '1999-12-31T23:59:59.999Z']],
  ['the last year with four digits', ['9999-12-31T23:59:59.999Z', '2000-01-01T00:00:00.000Z']],
]
for (const [what, values] of times) {
  test(`the database reads an array of times correctly: ${what}`, async () => {
    const given = values.map((value) => (value === null ? null : new Date(value)))
    const [row] = await db.sql`select ${timestampArray(given)}::timestamptz[] as taken`
    assert.deepEqual(row?.taken, given)
    const [same] = await db.sql`select ${timestampArray(given)}::timestamptz[] = ${values}::timestamptz[] as is_same`
    assert.equal(same?.is_same, true)
  })
}

test('an invalid time is refused before it is sent', () => {
  assert.throws(() => timestampArray([new Date(Number.NaN)]), RangeError)
})

test('bytes are sent in the binary format, not as twice as many digits', () => {
  const sealed = Array.from({ length: 100 }, () => Buffer.alloc(129))
  assert.equal(byteaArray(sealed).wire?.length, 20 + 100 * (4 + 129))
})
