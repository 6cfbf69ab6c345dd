import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { manualClock } from '../../src/base/clock.ts'
import type { MediaStore } from '../../src/media/store/store.ts'
import { type SweepDeps, sweepStore } from '../../src/media/sweep.ts'
import { afterStep } from '../support/after-step.ts'
import { pieces, stores } from '../support/media/stores.ts'

const dayMs = 86_400_000

async function put(store: MediaStore, count: number): Promise<string[]> {
  const names = Array.from({ length: count }, () => randomUUID())
  await Promise.all(names.map((name) => store.put(name, pieces(Buffer.from(name)))))
  return names
}

async function left(store: MediaStore): Promise<string[]> {
  return (await store.list(null, 1000)).map(({ name }) => name).sort()
}

interface Sweep {
  store: MediaStore
  named: Set<string>
  stray: string[]
  asked: string[][]
  deps(ageMs: number, more?: Partial<SweepDeps>): SweepDeps
}

/** A store with files that rows refer to and files without a row. */
async function newSweep(form: keyof typeof stores, [named, stray]: [number, number]): Promise<Sweep> {
  const { store } = (await stores[form]?.()) ?? assert.fail()
  const kept = new Set(await put(store, named))
  const strays = await put(store, stray)
  const asked: string[][] = []
  const findReferenced = async (names: string[]) => {
    asked.push(names)
    return new Set(names.filter((name) => kept.has(name)))
  }
  const deps = (ageMs: number, more: Partial<SweepDeps> = {}) => ({
    store,
    clock: manualClock(new Date(Date.now() + ageMs)),
    findReferenced,
    ...more,
  })
  return { store, named: kept, stray: strays, asked, deps }
}

for (const form of Object.keys(stores)) {
  test(`${form}: files without a row are removed after a day, files with a row never`, async () => {
    const { store, named, stray, asked, deps } = await newSweep(form, [5, 7])
    assert.deepEqual(await sweepStore(deps(dayMs - 60_000)), { removed: 0, after: null })
    assert.deepEqual(asked, [], 'what is young is not asked about')
    assert.deepEqual(await left(store), [...named, ...stray].sort())
    assert.deepEqual(await sweepStore(deps(dayMs + 60_000)), { removed: 7, after: null })
    assert.deepEqual(await left(store), [...named].sort())
    assert.deepEqual(await sweepStore(deps(dayMs + 60_000)), { removed: 0, after: null })
    assert.notEqual(await store.readMark(), null)
  })
}

test('a sweep stops at its limit, and the next one continues there', async () => {
  const { store, named, asked, deps } = await newSweep('folder', [28, 13])
  let after: string | null = null
  let removed = 0
  for (const expected of [20, 20, 1]) {
    const swept = await sweepStore(deps(2 * dayMs, { batchSize: 20 }), after, 1)
    ;[removed, after] = [removed + swept.removed, swept.after]
    assert.equal(asked.at(-1)?.length, expected)
  }
  assert.deepEqual([removed, after], [13, null])
  assert.equal(new Set(asked.flat()).size, 41, 'each file is asked about once')
  assert.deepEqual(await left(store), [...named].sort())
})

test('a sweep killed after any step has removed no file with a row, and the next one completes', async () => {
  for (let killAfter = 1; ; killAfter++) {
    const { store, named, stray, deps } = await newSweep('folder', [3, 3])
    let steps = 0
    const runStep = afterStep(() => {
      if (++steps === killAfter) throw new Error('killed')
    })
    const first = await sweepStore(deps(2 * dayMs, { runStep })).catch((error: Error) => error.message)
    const there = await left(store)
    assert.deepEqual(
      [...named].filter((name) => !there.includes(name)),
      [],
      `killed after step ${killAfter}`,
    )
    if (first !== 'killed') {
      assert.equal(killAfter, 3 + stray.length + 1, 'every step was the last one once')
      return
    }
    await sweepStore(deps(2 * dayMs))
    assert.deepEqual(await left(store), [...named].sort())
  }
})

test('a sweep that cannot look up references removes nothing', async () => {
  const { store, named, stray, deps } = await newSweep('folder', [2, 2])
  const findReferenced = () => Promise.reject(new Error('the database is away'))
  await assert.rejects(sweepStore(deps(2 * dayMs, { findReferenced })), /the database is away/)
  assert.deepEqual(await left(store), [...named, ...stray].sort())
})
