import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DatabaseError } from 'pg-protocol'
import { isRolledBack } from '../../../src/base/db.ts'
import { NoDatabase } from '../../../src/base/postgres/connect.ts'
import {
  ConnectionLost,
  endsSession,
  isOfServer,
  isUnavailable,
  NoConnection,
  violates,
} from '../../../src/base/postgres/failures.ts'

const said = (code: string, more: object = {}) =>
  Object.assign(new DatabaseError('words', 0, 'error'), { code, severity: 'ERROR', ...more })
const fatal = { severity: 'FATAL' }

const cases: [what: string, error: unknown, away: boolean, endsSession: boolean, ofServer: boolean][] = [
  ['a standby that is to write', said('25006'), true, true, true],
  ['a standby that is asked for an unlogged table', said('0A000', { routine: 'get_relation_info' }), true, true, true],
  ['something that no server can do', said('0A000'), false, false, false],
  ['an administrator', said('57P01', fatal), true, true, false],
  ['an administrator, in the words of another language', said('57P01', { severity: 'ВАЖНО' }), true, true, false],
  ['a crash', said('57P02', fatal), true, true, true],
  ['a server that starts up', said('57P03', fatal), true, true, true],
  ['too many connections', said('53300', fatal), true, true, false],
  ['a disk that is full', said('53100', { file: 'md.c' }), true, false, false],
  ['a disk that may only be read', said('42501', { file: 'md.c' }), true, false, false],
  ['a log that can make no file on such a disk', said('42501', { file: 'xlog.c' }), true, false, false],
  ['a file that may grow no further', said('XX000', { file: 'md.c' }), true, false, false],
  ['a sort that finds no room for its file', said('XX000', { file: 'fd.c' }), true, false, false],
  ['a fault of the server', said('XX000', { file: 'execMain.c' }), false, false, false],
  ['a page that is not what was written', said('XX001', { file: 'md.c' }), false, false, false],
  ['a server that may not write its log', said('42501', { severity: 'PANIC' }), true, true, false],
  ['a file that cannot be read', said('58030', { file: 'md.c' }), true, false, false],
  ['a table that may not be read', said('42501', { file: 'aclchk.c' }), false, false, false],
  ['a row that others changed first, or that recovery took away', said('40001'), true, false, false],
  ['locks in a circle, with others or with recovery', said('40P01'), true, false, false],
  ['a transaction that was idle for too long', said('25P03', fatal), true, true, false],
  ['a statement that took too long', said('57014'), true, false, false],
  ['a lock that others kept', said('55P03'), true, false, false],
  ['a wrong password, said of nothing that was asked', said('28P01', fatal), false, true, false],
  ['a unique index', said('23505'), false, false, false],
  ['a connection that ended', new ConnectionLost(), true, false, false],
  ['no connection, whatever the reason', new NoConnection(said('28P01', fatal)), true, false, false],
  ['no host that would do', new NoDatabase([]), true, false, false],
  ['a fault of ours', new TypeError('words'), false, false, false],
]
for (const [what, error, ...expected] of cases) {
  test(`${what}: away ${expected[0]}, the session ends ${expected[1]}, all sessions to the server end ${expected[2]}`, () => {
    assert.deepEqual([isUnavailable(error), endsSession(error), isOfServer(error)], expected)
  })
}

const refused = (code: string, message: string, constraint?: string) =>
  Object.assign(new DatabaseError(message, 0, 'error'), { code, severity: 'ERROR', constraint })
const key = 'leads_external_ref_key'
const duplicate = (name: string) => `duplicate key value violates unique constraint "${name}"`

/** As PostgreSQL says it, and as Citus does: by a server that it asked, which is told in words alone, or by itself. */
const refusals: [what: string, error: unknown, violates: boolean][] = [
  ['the index itself', refused('23505', duplicate(key), key), true],
  ['another index', refused('23505', duplicate('leads_pkey'), 'leads_pkey'), false],
  ['one whose name begins so', refused('23505', duplicate(`${key}_2`), `${key}_2`), false],
  ['one whose name ends so', refused('23505', duplicate(`old_${key}`)), false],
  ['that of a shard here', refused('23505', duplicate(`${key}_102157`), `${key}_102157`), true],
  ['that of a shard elsewhere', refused('23505', duplicate(`${key}_102157`)), true],
  ['that of a shard to which rows were copied', refused('XX000', duplicate(`${key}_102157`)), true],
  ['that of a shard, in another language', refused('23505', `llave duplicada viola «${key}_102157»`), true],
  ['another one of a shard elsewhere', refused('23505', duplicate('leads_pkey_102157')), false],
  ['one whose name begins so, of a shard elsewhere', refused('23505', duplicate(`${key}_2_102157`)), false],
  ['something else that names it', refused('42704', `index "${key}" does not exist`), false],
  ['a fault of ours', new TypeError(duplicate(key)), false],
]
for (const [what, error, expected] of refusals) {
  test(`a write that the database refused because of ${what} ${expected ? 'violates' : 'does not violate'} the index`, () => {
    assert.equal(violates(error, key), expected)
  })
}

test('a foreign key is known by its name beside the tables that the refusal names', () => {
  const words =
    'insert or update on table "form_submissions_102133" violates foreign key constraint "form_submissions_form_fkey_102133"'
  assert.ok(violates(refused('23503', words), 'form_submissions_form_fkey'))
})

test('a write on whose way a pooler lost its server may have been done', () => {
  const lost = said('08P01', fatal)
  assert.deepEqual([isUnavailable(lost), isRolledBack(lost)], [true, false])
})
