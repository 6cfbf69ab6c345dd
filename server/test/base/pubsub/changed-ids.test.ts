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
  return { board, clock, heard, state, tell: (id: string) => board.dispatch({ topic: 'moved', id }) }
}

test('the first call returns all, later ones each changed id once', () => {
  const { heard, tell, board } = hearing()
  tell('a')
  assert.equal(heard.take(), null)
  assert.deepEqual(heard.take(), [])
  for (const id of ['a', 'b', 'a']) tell(id)
  board.dispatch({ topic: 'other', id: 'c' })
  assert.deepEqual(heard.take(), ['a', 'b'])
  assert.deepEqual(heard.take(), [])
})

test('all are checked periodically, also after the clock was set back', () => {
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

test('without the LISTEN connection every call returns all, and once more after it is restored', () => {
  const { heard, state, board } = hearing()
  heard.take()
  state.isListening = false
  assert.deepEqual([heard.take(), heard.take()], [null, null])
  state.isListening = true
  board.reconnected()
  assert.equal(heard.take(), null)
  assert.deepEqual(heard.take(), [])
})

test('after takeAllNext the next call returns all', () => {
  const { heard, tell } = hearing()
  heard.take()
  tell('a')
  heard.take()
  heard.takeAllNext()
  assert.equal(heard.take(), null)
})

test('above the maximum number of ids all are checked', () => {
  const { heard, tell } = hearing()
  heard.take()
  for (let n = 0; n <= 10_000; n++) tell(String(n))
  assert.equal(heard.take(), null)
})
