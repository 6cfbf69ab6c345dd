import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { createPostgresLimiter } from '../../../src/auth/rate-limit/rate-limit-postgres.ts'
import { manualClock } from '../../../src/base/clock.ts'
import type { Db } from '../../../src/base/db.ts'
import { testDatabase } from '../../support/database.ts'
import { noon } from '../../support/guarded-app.ts'
import { assertNeverMoreThan } from '../../support/sliding-window.ts'

const { db } = await testDatabase()

function nodes(count: number) {
  const clock = manualClock(noon)
  let questions = 0
  const counting: Db = {
    ...db,
    tx: (work) => {
      questions++
      return db.tx(work)
    },
  }
  const limiters = Array.from({ length: count }, () => createPostgresLimiter({ db: counting, now: clock.now }))
  return { clock, limiters, key: `test:${randomUUID()}`, questions: () => questions }
}

test('a burst on three nodes is accepted up to the limit exactly', async () => {
  const { limiters, key } = nodes(3)
  const storm = Array.from({ length: 200 }, () => limiters.map((limiter) => limiter.take(key, 300))).flat()
  const answers = await Promise.all(storm)
  assert.equal(answers.filter((answer) => answer.allowed).length, 300)
  assert.equal(answers.filter((answer) => !answer.allowed && answer.retryAfterSeconds === 61).length, 300)
})

test('no 60 s contain more than the limit on nodes that alternate at random', async () => {
  for (const seed of [1, 2]) {
    const { clock, limiters, key } = nodes(3)
    const random = randomFrom(seed)
    const accepted: number[] = []
    for (let round = 0; round < 120; round++) {
      clock.advance(Math.floor(random() ** 3 * 3000))
      const limiter = limiters[Math.floor(random() * limiters.length)]
      const burst = Array.from({ length: 1 + Math.floor(random() * 6) }, () => limiter?.take(key, 40))
      for (const answer of await Promise.all(burst)) if (answer?.allowed) accepted.push(clock.now().getTime())
    }
    assertNeverMoreThan(40, accepted)
    assert.ok(accepted.length > 40, `${accepted.length} accepted`)
  }
})

test('under steady demand one node accepts 98 % of the limit with one statement for many requests', async () => {
  const { clock, limiters, key, questions } = nodes(1)
  const minutes = 2
  const accepted: number[] = []
  for (let stepMs = 0; stepMs < minutes * 60_000; stepMs += 10) {
    clock.advance(10)
    if ((await limiters[0]?.take(key, 3000))?.allowed) accepted.push(clock.now().getTime())
  }
  assertNeverMoreThan(3000, accepted)
  assert.ok(accepted.length >= 0.98 * 3000 * minutes, `${accepted.length} accepted`)
  assert.ok(questions() * 4 < accepted.length, `${questions()} questions for ${accepted.length} requests`)
})

test('units that one node leased and did not use become available to the others', async () => {
  const { clock, limiters, key } = nodes(2)
  const [busy, other] = limiters
  const accepted: number[] = []
  const note = (allowed = false) => allowed && accepted.push(clock.now().getTime())
  for (let request = 0; request < 30; request++) note((await busy?.take(key, 100))?.allowed)
  clock.advance(600)
  note((await busy?.take(key, 100))?.allowed)
  clock.advance(600)
  note((await busy?.take(key, 100))?.allowed)
  for (let request = 0; request < 100; request++) note((await other?.take(key, 100))?.allowed)
  assertNeverMoreThan(100, accepted)
  assert.ok(accepted.length >= 95, `${accepted.length} of 100`)
})

function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state / 2_147_483_648
  }
}
