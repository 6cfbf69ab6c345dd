import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Clock, shiftedClock, systemClock } from '../../../src/base/clock.ts'
import type { RunStep } from '../../../src/base/run-step.ts'
import { findReferencedFiles } from '../../../src/inbox/media/fetch-queries.ts'
import { deleteMediaOf } from '../../../src/inbox/media/media-queries.ts'
import type { Previews } from '../../../src/inbox/media/preview.ts'
import type { MediaStore } from '../../../src/media/store/store.ts'
import { sweepStore } from '../../../src/media/sweep.ts'
import { png as file } from '../../support/inbox/files-world.ts'
import { type MediaWorld, mediaWorld } from '../../support/inbox/media-world.ts'

const rounds = Number(process.env.MEDIA_INTERLEAVINGS ?? 5)
const dayMs = 86_400_000

const previews: Previews = {
  create: async () => ({ width: 1, height: 1, webp: Buffer.from('a preview'), placeholder: 'aa' }),
  close: async () => {},
}

/** A task that is advanced one step at a time. */
interface Actor {
  /** Runs the next step; the first call runs up to the first named step. */
  advance(): Promise<void>
  /** Runs all remaining steps. */
  finish(): Promise<void>
  /** Stops for good without releasing anything. */
  die(): void
}

function actor(run: (step: RunStep<string>) => Promise<unknown>): Actor {
  let permit = Promise.withResolvers<void>()
  let rest = Promise.withResolvers<void>()
  let running: Promise<void> | undefined
  let isDone = false
  let isDead = false
  const step: RunStep<string> = async (_name, work) => {
    rest.resolve()
    await permit.promise
    return work()
  }
  const advance = async () => {
    if (isDone || isDead) return
    rest = Promise.withResolvers()
    const given = permit
    permit = Promise.withResolvers()
    if (running === undefined) {
      running = run(step).then(() => {
        isDone = true
        rest.resolve()
      }, rest.reject)
    } else given.resolve()
    await rest.promise
  }
  return {
    advance,
    finish: async () => {
      while (!isDone && !isDead) await advance()
    },
    die: () => {
      isDead = true
    },
  }
}

const turns = {
  fetch: 6,
  'another fetch': 6,
  sweep: 8,
  'another sweep': 8,
  'a day passes': 2,
  erase: 1,
  'a fetch is killed': 1,
  'a sweep is killed': 1,
}
type Turn = keyof typeof turns
const allTurns = Object.entries(turns).flatMap(([turn, count]) => Array.from({ length: count }, () => turn as Turn))
const orders = fc.shuffledSubarray(allTurns, { minLength: allTurns.length })

test('in any order of fetches, sweeps, kills, an erasure and clean-ups, rows and stored files match', async () => {
  const w = await mediaWorld()
  await fc.assert(
    fc.asyncProperty(orders, async (order) => runInOrder(w, order)),
    { numRuns: rounds, endOnFailure: true },
  )
})

test('a file whose settlement is unknown stays in the store', async () => {
  const w = await mediaWorld()
  const id = await w.coming({ bytes: file })
  const step: RunStep<string> = async (name, work) => {
    const result = await work()
    if (name === 'settle') throw new Error('The connection broke before the answer came')
    return result
  }
  await w.fetcher({ previews, step }).drain()
  assert.equal((await w.row(id)).state, 'here')
  assert.ok((await w.content(id)).equals(file))
})

async function runInOrder(w: MediaWorld, order: readonly Turn[]): Promise<void> {
  await w.db.sql`delete from media`
  const nights = shiftedClock(systemClock)
  const store = withTimesOf(nights, w.media)
  const sweep = (step?: RunStep<string>) =>
    sweepStore({
      store,
      clock: nights,
      findReferenced: (names) => findReferencedFiles(w.db.sql, names),
      ...(step !== undefined && { runStep: step }),
    })
  const passDay = () => {
    nights.shiftTo(nights.shiftMs() + 1.5 * dayMs)
    w.clock.advance(1.5 * dayMs)
  }
  const [kept, erased] = [await w.coming({ bytes: file }), await w.coming({ bytes: file })]
  const actors: Record<'fetch' | 'another fetch' | 'sweep' | 'another sweep', Actor> = {
    fetch: actor((step) => w.fetcher({ store, previews, step, maxConcurrent: 1 }).drain()),
    'another fetch': actor((step) => w.fetcher({ store, previews, step, maxConcurrent: 1 }).drain()),
    sweep: actor(sweep),
    'another sweep': actor(sweep),
  }
  for (const turn of order) {
    if (turn === 'a day passes') passDay()
    else if (turn === 'erase') await erase(w, erased)
    else if (turn === 'a fetch is killed') actors['another fetch'].die()
    else if (turn === 'a sweep is killed') actors['another sweep'].die()
    else await actors[turn].advance()
    await checkNamed(w, order)
  }
  for (const one of Object.values(actors)) await one.finish()
  await checkNamed(w, order)

  passDay()
  await w.fetcher({ store, previews }).drain()
  passDay()
  await sweep()
  const { state, storedAs, previewStoredAs } = await w.row(kept)
  assert.equal(state, 'here')
  assert.deepEqual(await w.stored(), [storedAs, previewStoredAs].sort())
  assert.ok((await w.content(kept)).equals(file))
}

/** Returns a store whose file times follow the test clock. */
function withTimesOf(clock: Clock, store: MediaStore): MediaStore {
  const times = new Map<string, Date>()
  return {
    ...store,
    put: async (name, bytes) => {
      const size = await store.put(name, bytes)
      times.set(name, clock.now())
      return size
    },
    list: async (after, limit) => {
      const files = await store.list(after, limit)
      return files.map((one) => ({ ...one, storedAt: times.get(one.name) ?? one.storedAt }))
    },
  }
}

async function erase({ db, workspaceId }: MediaWorld, id: string): Promise<void> {
  const rows = await db.sql<{ messageId: string }[]>`
    select message_id as "messageId"
    from media
    where workspace_id = ${workspaceId}
      and id = ${id}`
  const messageIds = rows.map(({ messageId }) => messageId)
  await db.tx((tx) => deleteMediaOf(tx, workspaceId, messageIds))
}

async function checkNamed({ db, stored }: Pick<MediaWorld, 'db' | 'stored'>, order: readonly Turn[]): Promise<void> {
  const rows = await db.sql<{ name: string | null }[]>`
    select unnest(array[stored_as, preview_stored_as]) as name
    from media`
  const there = new Set(await stored())
  for (const { name } of rows) {
    if (name !== null) assert.ok(there.has(name), `a row names what is not there, after ${order.join(', ')}`)
  }
}
