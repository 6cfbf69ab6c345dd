import assert from 'node:assert/strict'
import { test } from 'node:test'
import { manualClock } from '../../../src/base/clock.ts'
import { createPubSub } from '../../../src/base/db.ts'
import { collectChangedIds } from '../../../src/base/pubsub.ts'

function hearing() {
  const board = createPubSub()
  const state = { isListening: true }
  const clock = manualClock(new Date('2026-03-10T12:00:00.000Z'))
  const db = { ...board, isListening: () => state.isListening }
  const heard = collectChangedIds({ db, clock }, { topics: ['moved'], allEveryMs: 5_000 })
  return { board, clock, heard, state, tell: (id: string) => board.tell({ topic: 'moved', id }) }
}

test('at first all is to be looked at, and then what was told of, each once', () => {
  const { heard, tell, board } = hearing()
  tell('a')
  assert.equal(heard.take(), null)
  assert.deepEqual(heard.take(), [])
  for (const id of ['a', 'b', 'a']) tell(id)
  board.tell({ topic: 'other', id: 'c' })
  assert.deepEqual(heard.take(), ['a', 'b'])
  assert.deepEqual(heard.take(), [])
})

test('what no news told of is looked at in its time, also when the clock is set back', () => {
  const { heard, clock } = hearing()
  heard.take()
  clock.advance(4_999)
  assert.deepEqual(heard.take(), [])
  clock.advance(1)
  assert.equal(heard.take(), null)
  assert.deepEqual(heard.take(), [])
  clock.advance(-60_000)
  assert.equal(heard.take(), null)
})

test('a process that is deaf looks at all each time, and once more when it hears again', () => {
  const { heard, state, board } = hearing()
  heard.take()
  state.isListening = false
  assert.deepEqual([heard.take(), heard.take()], [null, null])
  state.isListening = true
  board.reconnected()
  assert.equal(heard.take(), null)
  assert.deepEqual(heard.take(), [])
})

test('what was taken and not looked at to its end is looked at with all', () => {
  const { heard, tell } = hearing()
  heard.take()
  tell('a')
  heard.take()
  heard.takeAllNext()
  assert.equal(heard.take(), null)
})

test('more ids than are worth telling apart are all', () => {
  const { heard, tell } = hearing()
  heard.take()
  for (let n = 0; n <= 10_000; n++) tell(String(n))
  assert.equal(heard.take(), null)
})
