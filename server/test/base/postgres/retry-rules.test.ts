import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConnectionLost, DatabaseError, NoConnection } from '../../../src/base/postgres/failures.ts'
import { canRetry, isKnownRolledBack, isReadOnly, waitForWork } from '../../../src/base/postgres/retry-rules.ts'

function refusal(code: string, severity = 'ERROR'): DatabaseError {
  const error = new DatabaseError('The database refused', 1, 'error')
  error.code = code
  error.severity = severity
  return error
}

const lost = new ConnectionLost()
const unsent = new ConnectionLost(undefined, { wasSent: false })
const silent = new ConnectionLost(undefined, { wasSilent: true })
const shutDown = refusal('57P01', 'FATAL')
const crashed = refusal('57P02', 'FATAL')
const standby = refusal('25006')

const failures: [
  what: string,
  failure: unknown,
  isRepeated: boolean,
  undone: { direct: boolean; byPooler: boolean },
][] = [
  ['a lost connection', lost, true, { direct: false, byPooler: false }],
  ['a connection lost before anything was sent', unsent, true, { direct: true, byPooler: true }],
  ['a server that was silent for too long', silent, false, { direct: false, byPooler: false }],
  ['a server shutdown', shutDown, true, { direct: true, byPooler: false }],
  ['a server crash', crashed, true, { direct: false, byPooler: false }],
  ['a read-only server', standby, true, { direct: true, byPooler: true }],
  ['a panic', refusal('XX000', 'PANIC'), true, { direct: false, byPooler: false }],
  ['a statement timeout', refusal('57014'), false, { direct: false, byPooler: false }],
  ['a unique violation', refusal('23505'), false, { direct: false, byPooler: false }],
  ['an unavailable connection', new NoConnection(), false, { direct: false, byPooler: false }],
  ['a bug in Parley', new TypeError('of ours'), false, { direct: false, byPooler: false }],
]

for (const [what, failure, isRepeated, { direct, byPooler }] of failures) {
  test(`${what} is ${isRepeated ? '' : 'not '}retried, and a commit that was sent is ${direct ? '' : 'not '}known to be rolled back`, () => {
    assert.equal(canRetry(failure, 1, performance.now()), isRepeated)
    assert.deepEqual([isKnownRolledBack(failure, true), isKnownRolledBack(failure, false)], [direct, byPooler])
  })
}

test('work is repeated at most three times and not after 9 s, so that every request ends within 20 s', () => {
  const now = performance.now()
  const repeats = [1, 2, 3, 4].map((repeat) => canRetry(lost, repeat, now))
  assert.deepEqual(repeats, [true, true, true, false])
  assert.deepEqual(
    [8_900, 9_000].map((ms) => canRetry(lost, 1, now - ms)),
    [true, false],
  )
})

const statements: [text: string, reads: boolean][] = [
  ['select 1', true],
  ['\n    SELECT updated_at, deleted_at\n    from leads', true],
  ['with recursive a as (select 1) select * from a', true],
  ['values (1)', true],
  ['select id from leads for update', false],
  ['with gone as (delete from notes returning id) select count(*) from gone', false],
  ['insert into notes (text) values (1)', false],
  ["select nextval('positions')", false],
  ["select set_config('statement_timeout', '1s', false)", false],
  ['select pg_advisory_lock(1)', false],
  ['select pg_try_advisory_xact_lock(1)', false],
  ['select pg_terminate_backend(1)', false],
  ["select pg_notify('news', '1')", false],
  ['select 1 into other', false],
  ['lock table leads', false],
]

test('a statement that may change something is not read-only', () => {
  for (const [text, reads] of statements) assert.equal(isReadOnly({ text, isScript: false }), reads, text)
  assert.equal(isReadOnly({ text: 'select 1; select 2', isScript: true }), false)
})

test('work without its connection is awaited briefly until it settles', async (t) => {
  assert.deepEqual(await waitForWork(Promise.reject(lost)), { how: 'failed' })
  assert.deepEqual(await waitForWork(Promise.resolve(1)), { how: 'answered', answer: 1 })
  assert.deepEqual(await waitForWork(undefined), { how: 'failed' })
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const hanging = waitForWork(new Promise(() => {}))
  t.mock.timers.tick(250)
  assert.deepEqual(await hanging, { how: 'goes on' })
})
