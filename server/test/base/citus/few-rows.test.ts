import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assumeDistributed } from '../../../src/base/citus/distributed-sql.ts'
import { insertedRows } from '../../../src/base/citus/few-rows.ts'
import { openDb } from '../../../src/base/db.ts'
import { assignments, columnNames } from '../../../src/base/postgres/rows.ts'
import { testDatabase } from '../../support/database.ts'
import { atEnd } from '../../support/file-lifecycle.ts'

const columns = {
  integer: ['id'],
  text: ['name'],
  numeric: ['price'],
  boolean: ['isOpen'],
  bytea: ['body'],
  timestamptz: ['madeAt'],
  jsonb: ['detail'],
} as const

const rowOf = (id: number) => ({
  ...{ id, name: id % 2 === 0 ? null : `it's "${id}"`, price: id / 4, isOpen: id % 3 === 0 },
  ...{ body: Buffer.from([0, id, 255]), madeAt: new Date(id * 1000), detail: JSON.stringify({ id, list: [id] }) },
})

for (const [servers, isSeveral, counts] of [
  ['one server', false, { values: 0, arrays: 2 }],
  ['several servers', true, { values: 1, arrays: 1 }],
] as const) {
  test(`on ${servers} few rows are inserted ${isSeveral ? 'by values' : 'by arrays'}, many by arrays, with equal results`, async () => {
    const sent: string[] = []
    const { options } = await testDatabase()
    const db = openDb({ ...options, onStatement: ({ text }) => void sent.push(text) })
    atEnd(() => db.close())
    if (isSeveral) assumeDistributed(db.sql)
    await db.tx(async (tx) => {
      await tx`
        create temporary table things (
          place integer generated always as identity, owner text, id integer, name text, price numeric,
          is_open boolean, body bytea, made_at timestamptz, detail jsonb
        ) on commit drop`
      const insert = (rows: ReturnType<typeof rowOf>[]) => tx`
        insert into things (owner, ${columnNames(columns)})
        ${insertedRows(tx, tx`${'me'}::text`, rows, columns)}`
      const rows = Array.from({ length: 22 }, (_, id) => rowOf(id))
      await insert(rows.slice(0, 2))
      await insert(rows.slice(2))
      const { id, ...changed } = { ...rowOf(9), id: 1 }
      const { integer, ...changing } = columns
      assert.deepEqual(integer, ['id'])
      await tx`update things set ${assignments(changing, changed)} where id = ${id}`
      const stored = await tx<{ detail: object }[]>`
        select id, name, price::float8 as price, is_open as "isOpen", body, made_at as "madeAt", detail
        from things
        where owner = 'me'
        order by place`
      const expected = rows.map((row) => (row.id === 1 ? { ...rowOf(9), id: 1 } : row))
      assert.deepEqual(
        stored.map((row) => ({ ...row })),
        expected.map((row) => ({ ...row, detail: JSON.parse(row.detail) })),
      )
    })
    const inserts = sent.filter((text) => text.includes('insert into things'))
    const arrays = inserts.filter((text) => text.includes('unnest(')).length
    assert.deepEqual({ values: inserts.length - arrays, arrays }, counts)
  })
}
