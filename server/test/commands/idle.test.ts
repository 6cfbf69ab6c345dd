import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { Repeat } from '../../src/base/async/loop.ts'
import { startWorker } from '../../src/commands/start/worker.ts'
import { statementCountOf } from '../support/database.ts'
import { webhookWorld } from '../support/webhooks/webhook-world.ts'

interface Repeated {
  pauseMs: number
  dueMs: number
  work: () => Promise<unknown>
}

/** Loops whose time passes when it is driven. */
function drivenLoops(advance: (ms: number) => void) {
  const loops: Repeated[] = []
  const errors: unknown[] = []
  let nowMs = 0
  const repeat: Repeat = (pauseMs, work, onError) => {
    const guarded = async () => {
      await work().catch((error: unknown) => {
        errors.push(error)
        onError(error)
      })
    }
    loops.push({ pauseMs, dueMs: nowMs, work: guarded })
    return { stop: async () => {} }
  }
  const pass = async (ms: number) => {
    const endMs = nowMs + ms
    for (;;) {
      const next = loops.reduce((first, loop) => (loop.dueMs < first.dueMs ? loop : first))
      if (next.dueMs > endMs) break
      advance(next.dueMs - nowMs)
      nowMs = next.dueMs
      await next.work()
      next.dueMs += next.pauseMs
    }
    advance(endMs - nowMs)
    nowMs = endMs
  }
  return { repeat, pass, errors }
}

test('a node that has nothing to do asks at most 15 statements a second, and delivers what comes then', async () => {
  const w = await webhookWorld()
  const { repeat, pass, errors } = drivenLoops((ms) => w.clock.advance(ms))
  const worker = startWorker({ ...w, repeat })
  await pass(10_000)
  const seconds = 60
  const count = await statementCountOf(() => pass(seconds * 1_000))
  assert.ok(count <= 15 * seconds, `${count} statements in ${seconds} s`)
  const [id] = await w.record(randomUUID(), [{ n: 1 }])
  await w.receiver.reached(1)
  assert.deepEqual(w.sentIds(), [id])
  await worker.stop()
  assert.deepEqual(errors, [])
})
