import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Tx } from '../../src/base/db.ts'
import { recordEvents } from '../../src/events/record.ts'
import { sequenceEvents } from '../../src/events/sequence.ts'
import { bodyOf, type FeedWorld, feedWorld } from '../support/events/feed-world.ts'

const transactions = 4
const subjects = ['00', '01', '02'].map((end) => `01985e2a-7c3e-7f10-9a64-3f6a2b1c0d${end}`)

type Step =
  | { does: 'record'; transaction: number; subject: number }
  | { does: 'commit' | 'rollback'; transaction: number }
  | { does: 'place' }

const transaction = fc.nat(transactions - 1)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ does: fc.constant('record'), transaction, subject: fc.nat(2) }) },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('commit'), transaction }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('rollback'), transaction }) },
  { weight: 2, arbitrary: fc.constant({ does: 'place' } as const) },
) as fc.Arbitrary<Step>

/** A transaction that runs statements on demand. */
interface Open {
  recorded: { label: number; subject: number }[]
  /** Number of commits before its first event. */
  knows: number
  run(work: (tx: Tx) => Promise<void>): Promise<void>
  end(commits: boolean): Promise<void>
}

function openTransaction(w: FeedWorld, knows: number): Open {
  const ready = Promise.withResolvers<Tx>()
  const over = Promise.withResolvers<boolean>()
  const done = w.db
    .tx(async (tx) => {
      ready.resolve(tx)
      if (!(await over.promise)) throw new Error('Rolled back')
    })
    .catch((error: Error) => assert.equal(error.message, 'Rolled back'))
  return {
    recorded: [],
    knows,
    run: async (work) => work(await ready.promise),
    end: async (commits) => {
      await ready.promise
      over.resolve(commits)
      await done
    },
  }
}

test('in any commit order, positions have no gaps and respect causality', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const w = await feedWorld()
      const keyring = await w.keyStore.keyring(w.workspaceId)
      const open = new Map<number, Open>()
      const committed: Open[] = []
      let labels = 0

      const end = async (n: number, commits: boolean) => {
        const ending = open.get(n)
        if (ending === undefined) return
        await ending.end(commits)
        open.delete(n)
        if (commits) committed.push(ending)
      }
      const record = async (n: number, subject: number) => {
        // A transaction locks its subjects until the end; others would wait.
        const isHeld = [...open].some(
          ([m, { recorded }]) => m !== n && recorded.some((each) => each.subject === subject),
        )
        if (isHeld) return
        const writing = open.get(n) ?? openTransaction(w, committed.length)
        open.set(n, writing)
        const label = ++labels
        writing.recorded.push({ label, subject })
        const payload = { ...bodyOf('lead.updated'), estimatedValue: label }
        const event = { name: 'lead.updated', subjectId: subjects[subject] ?? '', connectionId: null, payload } as const
        await writing.run((tx) => recordEvents(tx, keyring, w.workspaceId, [event], w.clock.now()))
      }
      const placeAndRead = async () => {
        await sequenceEvents(w.db, w.workspaceId)
        const rows = await w.db.sql<{ position: number }[]>`
          select position
          from events
          where workspace_id = ${w.workspaceId}
          order by position nulls last`
        const count = committed.reduce((sum, { recorded }) => sum + recorded.length, 0)
        assert.deepEqual(
          rows.map(({ position }) => position),
          Array.from({ length: count }, (_, n) => n + 1),
        )
      }

      for (const each of steps) {
        if (each.does === 'record') await record(each.transaction, each.subject)
        else if (each.does === 'place') await placeAndRead()
        else await end(each.transaction, each.does === 'commit')
      }
      for (const n of [...open.keys()]) await end(n, true)
      await placeAndRead()

      const { events } = await w.page({ limit: '100' })
      const place = new Map<number, number>()
      for (const [at, event] of events.entries()) place.set(event.payload.estimatedValue, at)
      const placeOf = (label: number) => place.get(label) ?? Number.NaN
      for (const later of committed) {
        const places = later.recorded.map(({ label }) => placeOf(label))
        assert.deepEqual(
          places.toSorted((a, b) => a - b),
          places,
          'a transaction keeps its own order',
        )
        for (const earlier of committed.slice(0, later.knows)) {
          for (const { label } of earlier.recorded) assert.ok(places.every((at) => at > placeOf(label)))
        }
      }
    }),
    { numRuns: Number(process.env.FEED_INTERLEAVINGS ?? 12) },
  )
})
