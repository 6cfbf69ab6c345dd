import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shiftedClock, systemClock } from '../../../src/base/clock.ts'
import type { RunStep } from '../../../src/base/steps.ts'
import type { FetchDeps } from '../../../src/inbox/media/fetch-media.ts'
import { knownFiles } from '../../../src/inbox/media/fetch-queries.ts'
import type { Previews } from '../../../src/inbox/media/preview.ts'
import { sweepStore } from '../../../src/media/sweep.ts'
import { type MediaWorld, mediaWorld } from '../../support/inbox/media-world.ts'
import { afterStep } from '../../support/steps.ts'
import { until } from '../../support/until.ts'

const file = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const webp = Buffer.from('a preview')
const previews: Previews = {
  make: async () => ({ width: 1, height: 1, webp, placeholder: 'aa' }),
  close: async () => {},
}

type Step = 'open' | 'store' | 'preview' | 'settle'
const steps: Step[] = ['open', 'store', 'preview', 'settle']

/** Stands still after a step until it is let go: nothing that it holds is given back. */
function stalledAfter(step: Step) {
  const { promise, resolve } = Promise.withResolvers<void>()
  const stalled = { isStalled: false, letGo: resolve, step: undefined as unknown as RunStep<Step> }
  stalled.step = afterStep<Step>(async (done) => {
    if (done !== step) return
    stalled.isStalled = true
    await promise
  })
  return stalled
}

/** As hourly, two days later. */
async function sweep({ db, media: store }: MediaWorld): Promise<void> {
  const clock = shiftedClock(systemClock)
  clock.shiftTo(2 * 86_400_000)
  await sweepStore({ store, clock, known: (names) => knownFiles(db.sql, names) })
}

for (const step of steps) {
  test(`a worker that is killed after "${step}" loses nothing, and the row names one file`, async () => {
    const w = await mediaWorld()
    await sweep(w)
    const id = await w.coming({ bytes: file })
    const killed = stalledAfter(step)
    void w.fetcher({ previews, step: killed.step }).drain()
    await until(() => killed.isStalled, 'the step')
    if (step === 'settle') {
      assert.equal((await w.row(id)).state, 'here')
    } else {
      await w.fetcher({ previews }).drain()
      assert.equal((await w.row(id)).state, 'coming', 'its claim still holds')
    }
    w.clock.advance(61_000)
    await w.fetcher({ previews }).drain()
    const { state, tries, storedAs, previewStoredAs } = await w.row(id)
    assert.deepEqual([state, tries], ['here', step === 'settle' ? 1 : 2])
    assert.ok((await w.content(id)).equals(file))
    assert.ok((await w.preview(id)).equals(webp))
    await sweep(w)
    assert.deepEqual(await w.stored(), [storedAs, previewStoredAs].sort())
  })
}

for (const step of steps.slice(0, 3)) {
  test(`a worker that comes back to life after "${step}" changes nothing of what another has done`, async () => {
    const w = await mediaWorld()
    await sweep(w)
    const id = await w.coming({ bytes: file })
    const stalled = stalledAfter(step)
    const late = w.fetcher({ previews, step: stalled.step }).drain()
    await until(() => stalled.isStalled, 'the step')
    w.clock.advance(61_000)
    await w.fetcher({ previews }).drain()
    const before = await w.row(id)
    stalled.letGo()
    await late
    assert.deepEqual(await w.row(id), before)
    assert.deepEqual(await w.stored(), [before.storedAs, before.previewStoredAs].sort(), 'its own it has removed')
    assert.ok((await w.content(id)).equals(file))
  })
}

test('a machine that slept for days between the file and its row does not name what was swept meanwhile', async () => {
  const w = await mediaWorld()
  const id = await w.coming({ bytes: file })
  const stalled = stalledAfter('preview')
  const late = w.fetcher({ previews, step: stalled.step }).drain()
  await until(() => stalled.isStalled, 'the step')
  w.clock.advance(2 * 86_400_000)
  await sweep(w)
  stalled.letGo()
  await late
  await w.fetcher({ previews }).drain()
  const { state, storedAs, previewStoredAs } = await w.row(id)
  assert.equal(state, 'here')
  assert.deepEqual(await w.stored(), [storedAs, previewStoredAs].sort())
  assert.ok((await w.content(id)).equals(file))
})

test('a conversation that is erased while its file comes leaves nothing of it', async () => {
  const w = await mediaWorld()
  await sweep(w)
  const id = await w.coming({ bytes: file })
  const stalled = stalledAfter('preview')
  const fetching = w.fetcher({ previews, step: stalled.step }).drain()
  await until(() => stalled.isStalled, 'the step')
  await w.db.sql`delete from media where workspace_id = ${w.workspaceId} and id = ${id}`
  stalled.letGo()
  await fetching
  assert.deepEqual(await w.stored(), [])
})

test('when nobody knows whether a file was settled, it stays in the store', async () => {
  const w = await mediaWorld()
  await sweep(w)
  const id = await w.coming({ bytes: file })
  const step: FetchDeps['step'] = async (name, work) => {
    const result = await work()
    if (name === 'settle') throw new Error('The connection broke before the answer came')
    return result
  }
  await w.fetcher({ previews, step }).drain()
  assert.equal((await w.row(id)).state, 'here')
  assert.ok((await w.content(id)).equals(file))
})
