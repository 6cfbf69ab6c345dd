import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shiftedClock, systemClock } from '../../../src/base/clock.ts'
import type { FetchDeps } from '../../../src/inbox/media/fetch-media.ts'
import { knownFiles } from '../../../src/inbox/media/fetch-queries.ts'
import type { Previews } from '../../../src/inbox/media/preview.ts'
import { sweepStore } from '../../../src/media/sweep.ts'
import { png as file } from '../../support/inbox/files-world.ts'
import { type MediaWorld, mediaWorld } from '../../support/inbox/media-world.ts'
import { afterStep } from '../../support/steps.ts'

const webp = Buffer.from('a preview')
const previews: Previews = {
  make: async () => ({ width: 1, height: 1, webp, placeholder: 'aa' }),
  close: async () => {},
}

type Step = 'open' | 'store' | 'preview' | 'settle'
const steps: Step[] = ['open', 'store', 'preview', 'settle']

/** Stands still after a step for good: nothing that it holds is given back. */
function killedAfter(last: Step) {
  const { promise: isGone, resolve } = Promise.withResolvers<void>()
  const step = afterStep<Step>((done) => {
    if (done !== last) return
    resolve()
    return new Promise(() => {})
  })
  return { step, isGone }
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
    const killed = killedAfter(step)
    void w.fetcher({ previews, step: killed.step }).drain()
    await killed.isGone
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
