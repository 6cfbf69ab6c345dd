import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBackgroundTasks } from '../../../src/base/async/batch.ts'

test('close waits for running tasks, including failed ones, and starts no more', async () => {
  const backgroundTasks = createBackgroundTasks()
  const letGo = Promise.withResolvers<void>()
  const seen: string[] = []
  backgroundTasks.run(
    () => letGo.promise.then(() => seen.push('done')),
    () => seen.push('never'),
  )
  backgroundTasks.run(
    async () => Promise.reject(new Error('no')),
    () => seen.push('failed'),
  )
  const closed = backgroundTasks.close().then(() => seen.push('closed'))
  backgroundTasks.run(
    async () => seen.push('late'),
    () => seen.push('late'),
  )
  letGo.resolve()
  await closed
  assert.deepEqual(seen, ['done', 'failed', 'closed'])
})
