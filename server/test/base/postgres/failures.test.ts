import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DatabaseError, isAway } from '../../../src/base/postgres/failures.ts'

const cases: [string, Partial<DatabaseError>, boolean][] = [
  ['the disk is full', { code: '53100', file: 'md.c' }, true],
  ['the disk fails', { code: '58030', file: 'md.c' }, true],
  ['the disk may only be read', { code: '42501', file: 'md.c' }, true],
  ['the log can make no file on such a disk', { code: '42501', file: 'xlog.c' }, true],
  ['a file may grow no further', { code: 'XX000', file: 'md.c' }, true],
  ['a sort finds no room for its file', { code: 'XX000', file: 'fd.c' }, true],
  ['the role may not read a table', { code: '42501', file: 'aclchk.c' }, false],
  ['the server has a fault of its own', { code: 'XX000', file: 'execMain.c' }, false],
  ['a page is not what was written', { code: 'XX001', file: 'md.c' }, false],
]

for (const [what, fields, expected] of cases) {
  test(`${expected ? 'the database is away' : 'the database has refused'} when ${what}`, () => {
    const error = Object.assign(new DatabaseError('…', 0, 'error'), { severity: 'ERROR', ...fields })
    assert.equal(isAway(error), expected)
  })
}
