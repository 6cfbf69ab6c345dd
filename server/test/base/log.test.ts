import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { createLog } from '../../src/base/log.ts'
import { ConnectionLost } from '../../src/base/postgres/failures.ts'

suite('the log during an outage of the database', () => {
  let nowMs = 0
  const lines: Record<string, unknown>[] = []
  const log = createLog('debug', { write: (line) => lines.push(JSON.parse(line)) }, () => nowMs)
  const written = () => lines.splice(0).map(({ level, msg, count, job }) => ({ level, msg, count, job }))

  test('each message is logged as a warning once per 30 s, with the number of skipped ones', () => {
    for (nowMs = 0; nowMs < 31_000; nowMs += 1_000) {
      log.error('failed to poll', {}, new ConnectionLost())
      log.error('job failed', { job: 'sweep' }, new ConnectionLost())
      log.error('job failed', { job: 'purge' }, new ConnectionLost())
    }
    const once = (count?: number) => [
      { level: 'warn', msg: 'failed to poll', count, job: undefined },
      { level: 'warn', msg: 'job failed', count, job: 'sweep' },
      { level: 'warn', msg: 'job failed', count, job: 'purge' },
    ]
    assert.deepEqual(written(), [...once(), ...once(29)])
  })

  test('other errors are logged each time at their own level', () => {
    for (let n = 0; n < 3; n++) log.error('failed to poll', {}, new TypeError('defect'))
    assert.deepEqual(
      written().map(({ level }) => level),
      ['error', 'error', 'error'],
    )
  })
})
