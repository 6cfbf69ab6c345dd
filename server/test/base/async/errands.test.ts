import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openErrands } from '../../../src/base/async/batch.ts'

test('to close errands waits for those that have begun, failed ones too, and lets none begin', async () => {
  const errands = openErrands()
  const letGo = Promise.withResolvers<void>()
  const seen: string[] = []
  errands.run(
    () => letGo.promise.then(() => seen.push('done')),
    () => seen.push('never'),
  )
  errands.run(
    async () => Promise.reject(new Error('no')),
    () => seen.push('failed'),
  )
  const closed = errands.close().then(() => seen.push('closed'))
  errands.run(
    async () => seen.push('late'),
    () => seen.push('late'),
  )
  letGo.resolve()
  await closed
  assert.deepEqual(seen, ['done', 'failed', 'closed'])
})
