import assert from 'node:assert/strict'
import { EventEmitter, on, once } from 'node:events'
import { test } from 'node:test'
import { type N8nWorld, n8nWorld } from '../../support/n8n/n8n-world.ts'
import type { NodeInput } from '../../support/n8n/node-context.ts'
import type { Item } from '../../support/n8n/node-type.ts'

interface Following {
  emitted: Item['json'][]
  failed: (Error & { httpCode?: string })[]
  stored: Record<string, unknown>
  /** Resolves when the condition is true; checked on every emit, error and save. */
  when(isSo: (following: Following) => boolean): Promise<void>
  stop(): Promise<void>
  /** Runs a manual test up to its wait. */
  tryIt?: () => Promise<void>
}

async function follow(w: N8nWorld, given: Partial<NodeInput> = {}): Promise<Following> {
  const trigger = w.node('parleyWorkTrigger')
  const changes = new EventEmitter()
  const emitted: Item['json'][] = []
  const failed: Following['failed'] = []
  const stored = new Proxy(given.stored ?? {}, {
    set: (...change) => {
      changes.emit('change')
      return Reflect.set(...change)
    },
  })
  const emit = ([items = []]: Item[][]) => {
    emitted.push(...items.map(({ json }) => json))
    changes.emit('change')
  }
  const emitError = (error: Error) => {
    failed.push(error)
    changes.emit('change')
  }
  const on = w.context(trigger, { ...given, stored, emit, emitError })
  const running = await trigger.trigger?.call(on)
  assert.ok(running !== undefined)
  const { closeFunction: stop, manualTriggerFunction: tryIt } = running
  const following: Following = {
    emitted,
    failed,
    stored,
    when: async (isSo) => {
      while (!isSo(following)) await once(changes, 'change')
    },
    stop: () => stop(),
    ...(tryIt && { tryIt: () => tryIt() }),
  }
  return following
}

const hasCursor = ({ stored }: Following) => typeof stored.cursor === 'string'
const hasEmitted =
  (count: number) =>
  ({ emitted }: Following) =>
    emitted.length === count

test('each pending conversation starts the workflow with the customer text since the last answer', async () => {
  const w = await n8nWorld()
  const { id } = await w.customerWrites('Do you ship to Recife?')
  w.clock.advance(1000)
  await w.customerWrites('And when?')
  const following = await follow(w)
  await following.when(hasEmitted(1))
  const [work] = following.emitted
  assert.deepEqual([work.conversation.id, work.customer_text], [id, 'Do you ship to Recife?\nAnd when?'])
  await w.run({ resource: 'conversation', operation: 'answer', conversationId: id, text: 'We do.' })
  w.clock.advance(1000)
  await w.customerWrites('Thanks!')
  await following.when(hasEmitted(2))
  assert.equal(following.emitted[1].customer_text, 'Thanks!')
  await following.stop()
})

test('a reactivated workflow resumes where it stopped', async () => {
  const w = await n8nWorld()
  await w.customerWrites('Hello')
  const before = await follow(w)
  await before.when(hasCursor)
  await before.stop()
  w.clock.advance(1000)
  const other = { ...(await w.customerWrites('Is anybody there?')) }
  const after = await follow(w, { stored: before.stored })
  await after.when(hasEmitted(1))
  assert.equal(after.emitted[0].conversation.id, other.id)
  assert.match(after.emitted[0].customer_text, /anybody/)
  await after.stop()
})

test('a workflow with another key starts with all pending work of that key', async () => {
  const w = await n8nWorld()
  await w.customerWrites('Hello')
  const other = await n8nWorld()
  const before = await follow(other, { stored: {} })
  await other.customerWrites('Hi')
  await before.when(hasCursor)
  await before.stop()
  const after = await follow(w, { stored: before.stored })
  await after.when(hasEmitted(1))
  assert.deepEqual([after.emitted[0].customer_text, after.failed], ['Hello', []])
  await after.stop()
})

test('outages are retried, and a rejected key is reported to n8n', async () => {
  const w = await n8nWorld()
  const nobody = { parleyApi: { baseUrl: 'http://127.0.0.1:47', apiKey: 'plk_x' } }
  const pauses: number[] = []
  const paused = on(w.paused, 'pause')
  const waiting = await follow(w, { credentials: nobody })
  for await (const [ms] of paused) if (pauses.push(ms) === 6) break
  await waiting.stop()
  assert.deepEqual(pauses, [1000, 2000, 4000, 8000, 16_000, 30_000])
  assert.deepEqual(waiting.failed, [])
  const refused = await follow(w, { credentials: { parleyApi: { baseUrl: w.url, apiKey: 'plk_x' } } })
  await refused.when(({ failed }) => failed.length === 1)
  assert.equal(refused.failed[0]?.httpCode, '401')
})

test('a manual run emits one conversation and stores nothing', async () => {
  const w = await n8nWorld()
  await w.customerWrites('Hello')
  const trying = await follow(w, { mode: 'manual' })
  await trying.tryIt?.()
  assert.deepEqual([trying.emitted.length, trying.stored], [1, {}])
  await trying.stop()
})
