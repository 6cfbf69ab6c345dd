import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  connectTimeoutMs,
  isLong,
  queueTimeoutMs,
  responseTimeoutMs,
  transactionTimeoutMs,
} from '../../../src/base/scheduling/work-context.ts'

const silenceMs = 16_000

const table: [waitedMs: number, turn: number, connection: number, answer: number, answers: number][] = [
  [0, 10_000, 5_000, 16_000, 18_500],
  [500, 10_000, 5_000, 16_000, 18_000],
  [2_500, 10_000, 5_000, 14_000, 16_000],
  [10_000, 3_000, 4_000, 6_500, 8_500],
  [13_000, 250, 1_000, 4_000, 5_500],
  [16_000, 250, 250, 2_500, 2_500],
  [18_400, 250, 250, 1_000, 1_000],
]
for (const [waitedMs, ...left] of table) {
  test(`a request that has waited ${waitedMs} ms has these timeouts for a slot, a connection, an answer and a transaction`, () => {
    assert.deepEqual(
      [
        queueTimeoutMs(waitedMs, 10_000),
        connectTimeoutMs(waitedMs, 5_000),
        responseTimeoutMs(waitedMs, silenceMs),
        transactionTimeoutMs(waitedMs, silenceMs),
      ],
      left,
    )
  })
}

test('all waits of a request together end after 20 s, even if each takes as long as it may', () => {
  for (let beforeMs = 0; beforeMs <= 18_000; beforeMs += 50) {
    let waitedMs = beforeMs
    waitedMs += queueTimeoutMs(waitedMs, 10_000)
    waitedMs += connectTimeoutMs(waitedMs, 5_000)
    waitedMs += responseTimeoutMs(waitedMs, silenceMs)
    assert.ok(waitedMs <= 19_500, `${waitedMs} ms after ${beforeMs}`)
  }
})

test('a configured timeout is never extended', () => {
  for (const waitedMs of [0, 700, 5_000, 20_000]) {
    assert.ok(queueTimeoutMs(waitedMs, 100) <= 100)
    assert.ok(connectTimeoutMs(waitedMs, 100) <= 100)
    assert.ok(responseTimeoutMs(waitedMs, 100) <= 100)
  }
})

test('a server counts as silent for others after four seconds, or after a shorter timeout', () => {
  assert.deepEqual([isLong(3_999, silenceMs), isLong(4_000, silenceMs), isLong(100, 100)], [false, true, true])
})
