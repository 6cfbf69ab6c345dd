import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DatabaseError } from 'pg-protocol'
import { isRolledBack } from '../../../src/base/db.ts'
import { NoDatabase } from '../../../src/base/postgres/connect.ts'
import {
  ConnectionLost,
  endsSession,
  isServerDown,
  isUnavailable,
  NoConnection,
  violates,
} from '../../../src/base/postgres/failures.ts'

const said = (code: string, more: object = {}) =>
  Object.assign(new DatabaseError('words', 0, 'error'), { code, severity: 'ERROR', ...more })
const fatal = { severity: 'FATAL' }

const cases: [what: string, error: unknown, away: boolean, endsSession: boolean, ofServer: boolean][] = [
  ['a write on a standby', said('25006'), true, true, true],
  ['a read of an unlogged table on a standby', said('0A000', { routine: 'get_relation_info' }), true, true, true],
  ['an unsupported feature', said('0A000'), false, false, false],
  ['a shutdown by an administrator', said('57P01', fatal), true, true, false],
  ['a shutdown by an administrator, in another language', said('57P01', { severity: 'ВАЖНО' }), true, true, false],
  ['a crash', said('57P02', fatal), true, true, true],
  ['a server that is starting up', said('57P03', fatal), true, true, true],
  ['too many connections', said('53300', fatal), true, true, false],
  ['a full disk', said('53100', { file: 'md.c' }), true, false, false],
  ['a read-only disk', said('42501', { file: 'md.c' }), true, false, false],
  ['a WAL file on a read-only disk', said('42501', { file: 'xlog.c' }), true, false, false],
  ['a file at its size limit', said('XX000', { file: 'md.c' }), true, false, false],
  ['a temporary file without disk space', said('XX000', { file: 'fd.c' }), true, false, false],
  ['an internal error of the server', said('XX000', { file: 'execMain.c' }), false, false, false],
  ['a corrupt page', said('XX001', { file: 'md.c' }), false, false, false],
  ['a server without permission to write its WAL', said('42501', { severity: 'PANIC' }), true, true, false],
  ['an unreadable file', said('58030', { file: 'md.c' }), true, false, false],
  ['a table without read permission', said('42501', { file: 'aclchk.c' }), false, false, false],
  ['a serialization failure, or a row removed by recovery', said('40001'), true, false, false],
  ['a deadlock with transactions or with recovery', said('40P01'), true, false, false],
  ['a transaction that was idle too long', said('25P03', fatal), true, true, false],
  ['a statement timeout', said('57014'), true, false, false],
  ['a lock timeout', said('55P03'), true, false, false],
  ['a wrong password, reported without a request', said('28P01', fatal), false, true, false],
  ['a unique index', said('23505'), false, false, false],
  ['a lost connection', new ConnectionLost(), true, false, false],
  ['no connection, whatever the reason', new NoConnection(said('28P01', fatal)), true, false, false],
  ['no suitable host', new NoDatabase([]), true, false, false],
  ['a bug in Parley', new TypeError('words'), false, false, false],
]
for (const [what, error, ...expected] of cases) {
  test(`${what}: unavailable ${expected[0]}, the session ends ${expected[1]}, all sessions to the server end ${expected[2]}`, () => {
    assert.deepEqual([isUnavailable(error), endsSession(error), isServerDown(error)], expected)
  })
}

const refused = (code: string, message: string, constraint?: string) =>
  Object.assign(new DatabaseError(message, 0, 'error'), { code, severity: 'ERROR', constraint })
const key = 'leads_external_ref_key'
const duplicate = (name: string) => `duplicate key value violates unique constraint "${name}"`

/** The error as PostgreSQL reports it, and as Citus does: forwarded from another server as text only, or its own. */
const refusals: [what: string, error: unknown, violates: boolean][] = [
  ['the index itself', refused('23505', duplicate(key), key), true],
  ['another index', refused('23505', duplicate('leads_pkey'), 'leads_pkey'), false],
  ['an index whose name begins with it', refused('23505', duplicate(`${key}_2`), `${key}_2`), false],
  ['an index whose name ends with it', refused('23505', duplicate(`old_${key}`)), false],
  ['the index of a local shard', refused('23505', duplicate(`${key}_102157`), `${key}_102157`), true],
  ['the index of a remote shard', refused('23505', duplicate(`${key}_102157`)), true],
  ['the index of a shard to which rows were copied', refused('XX000', duplicate(`${key}_102157`)), true],
  ['the index of a shard, in another language', refused('23505', `llave duplicada viola «${key}_102157»`), true],
  ['another index of a remote shard', refused('23505', duplicate('leads_pkey_102157')), false],
  ['an index of a remote shard whose name begins with it', refused('23505', duplicate(`${key}_2_102157`)), false],
  ['another error that names it', refused('42704', `index "${key}" does not exist`), false],
  ['a bug in Parley', new TypeError(duplicate(key)), false],
]
for (const [what, error, expected] of refusals) {
  test(`a write refused because of ${what} ${expected ? 'violates' : 'does not violate'} the index`, () => {
    assert.equal(violates(error, key), expected)
  })
}

test('a foreign key is recognized by its name next to the tables in the message', () => {
  const words =
    'insert or update on table "form_submissions_102133" violates foreign key constraint "form_submissions_form_fkey_102133"'
  assert.ok(violates(refused('23503', words), 'form_submissions_form_fkey'))
})

test('a write whose pooler lost its server may have been executed', () => {
  const lost = said('08P01', fatal)
  assert.deepEqual([isUnavailable(lost), isRolledBack(lost)], [true, false])
})
