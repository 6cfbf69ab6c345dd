import assert from 'node:assert/strict'
import { test } from 'node:test'
import { manualClock } from '../../../src/base/clock.ts'
import { createPubSub } from '../../../src/base/db.ts'
import { watchDueWork } from '../../../src/base/pubsub.ts'

const minuteMs = 60_000

function watching(minPauseMs?: number) {
  const board = createPubSub()
  const clock = manualClock(new Date('2026-03-10T12:00:00.000Z'))
  const state = { isListening: true, asked: 0, dueAt: null as Date | null, meanwhile: () => {} }
  const db = { ...board, isListening: () => state.isListening }
  const watch = watchDueWork(
    { db, clock },
    {
      nextAt: async () => {
        state.asked++
        state.meanwhile()
        return state.dueAt
      },
      pollEveryMs: minuteMs,
      watchedTopics: [{ topic: 'moved', isRelevant: (id) => id !== 'other' }],
      ...(minPauseMs !== undefined && { minPauseMs }),
    },
  )
  const dueIn = (ms: number) => {
    state.dueAt = new Date(clock.now().getTime() + ms)
  }
  return { watch, clock, state, board, dueIn, tell: (id: string) => board.dispatch({ topic: 'moved', id }) }
}

test('the database is queried at first and then each minute', async () => {
  const { watch, clock, state } = watching()
  for (let second = 0; second < 120; second++) {
    assert.equal(await watch.isDue(), false)
    clock.advance(1_000)
  }
  assert.equal(state.asked, 2)
})

test('work is due at its time and until it is done', async () => {
  const { watch, clock, state, dueIn } = watching()
  dueIn(20_000)
  assert.equal(await watch.isDue(), false)
  clock.advance(19_999)
  assert.equal(await watch.isDue(), false)
  assert.equal(state.asked, 1)
  clock.advance(1)
  assert.equal(await watch.isDue(), true)
  assert.equal(await watch.isDue(), true)
  state.dueAt = null
  assert.equal(await watch.isDue(), false)
  assert.equal(await watch.isDue(), false)
  assert.equal(state.asked, 4)
})

test('relevant messages cause a query, also those that arrive during one', async () => {
  const { watch, state, tell, dueIn } = watching()
  await watch.isDue()
  tell('other')
  assert.equal(await watch.isDue(), false)
  assert.equal(state.asked, 1)
  dueIn(0)
  tell('one')
  assert.equal(await watch.isDue(), true)
  state.dueAt = null
  state.meanwhile = () => tell('two')
  assert.equal(await watch.isDue(), false)
  state.meanwhile = () => {}
  dueIn(0)
  assert.equal(await watch.isDue(), true)
})

test('many messages cause one query per pause', async () => {
  const { watch, clock, state, tell } = watching(3_000)
  for (let second = 0; second < 12; second++) {
    tell(String(second))
    await watch.isDue()
    clock.advance(1_000)
  }
  assert.equal(state.asked, 4)
})

test('a lost message is made up for within the minute', async () => {
  const { watch, clock, dueIn } = watching()
  await watch.isDue()
  dueIn(0)
  clock.advance(minuteMs - 1)
  assert.equal(await watch.isDue(), false)
  clock.advance(1)
  assert.equal(await watch.isDue(), true)
})

test('without the LISTEN connection every call queries, and once more after it is restored', async () => {
  const { watch, state, board } = watching()
  await watch.isDue()
  state.isListening = false
  for (let n = 0; n < 3; n++) await watch.isDue()
  assert.equal(state.asked, 4)
  state.isListening = true
  board.reconnected()
  await watch.isDue()
  await watch.isDue()
  assert.equal(state.asked, 5)
})

test('a clock that was set back, or a failed query, does not prevent the next query', async () => {
  const { watch, clock, state } = watching()
  await watch.isDue()
  clock.advance(-10 * minuteMs)
  await watch.isDue()
  assert.equal(state.asked, 2)
  clock.advance(minuteMs)
  state.meanwhile = () => {
    throw new Error('away')
  }
  await assert.rejects(watch.isDue(), /away/)
  state.meanwhile = () => {}
  await watch.isDue()
  assert.equal(state.asked, 4)
})
