import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Admission, activeForMs, Scheduler } from '../../../src/base/scheduling/fair-queue.ts'

const size = 10
const share = 5

function turns(options: { size?: number; share?: number; maxWaiting?: number } = {}) {
  const all = new Scheduler<string>({ size, share, maxWaiting: 1_000, ...options })
  const ask = (owner: string, count: number, nowMs = 0, lane = ''): Admission[] =>
    Array.from({ length: count }, (_, n) => all.request(owner, lane, `${owner}${lane}${n}`, nowMs))
  return { all, ask }
}

const count = (answers: readonly Admission[], answer: Admission) => answers.filter((one) => one === answer).length

test('a single active owner gets every slot, as does one whose neighbors were last active a second ago', () => {
  const { all, ask } = turns()
  assert.equal(count(ask('a', 12), 'goes'), size)
  for (let n = 0; n < size + 2; n++) all.release('a', 0)
  assert.equal(all.held, 0)
  assert.equal(count(ask('b', 1), 'goes'), 1)
  all.release('b', 0)
  assert.equal(count(ask('a', 12, activeForMs - 1), 'goes'), share)
  for (let n = 0; n < 12; n++) all.release('a', activeForMs - 1)
  assert.equal(count(ask('a', 12, activeForMs), 'goes'), size)
})

test('while another owner is active, no owner exceeds the share, and the other gets a slot at once', () => {
  const { all, ask } = turns()
  ask('b', 1)
  all.release('b', 0)
  assert.deepEqual([count(ask('a', 40), 'goes'), all.waiting], [share, 40 - share])
  assert.deepEqual(ask('b', 1, 500), ['goes'])
})

test('slots beyond the share go to owners with fewer slots as they become free', () => {
  const { all, ask } = turns()
  ask('a', 20)
  ask('b', 20, 1)
  assert.equal(all.held, size)
  const went: string[] = []
  for (let n = 0; n < share; n++) went.push(...all.release('a', 2))
  assert.deepEqual(went, ['b0', 'b1', 'b2', 'b3', 'b4'])
  assert.deepEqual(all.release('a', 2), ['a10'])
})

test('light requests of a single owner share slots until another is active or a request waits', () => {
  const { all, ask } = turns()
  const light = (owner: string, nowMs = 0) => all.request(owner, '', `light ${owner}`, nowMs, true)
  for (let n = 0; n < 3 * size; n++) assert.equal(light('a'), 'goes')
  assert.deepEqual(ask('a', 1), ['waits'], 'a transaction has a connection of its own')
  assert.equal(light('a'), 'waits', 'and is not passed by for ever')
  for (let n = 0; n < 2 * size; n++) assert.deepEqual(all.release('a', 0), [])
  assert.deepEqual(all.release('a', 0), ['a0'])
  assert.deepEqual(all.release('a', 0), ['light a'])
  for (let n = 0; n < size; n++) all.release('a', 0)
  assert.equal(all.held, 0)

  assert.deepEqual(ask('b', 1), ['goes'])
  for (let n = 0; n < share; n++) assert.equal(light('a'), 'goes')
  assert.equal(light('a'), 'waits', 'beside another')
})

test('the service leaves workspaces all slots and takes turns with them', () => {
  const { all, ask } = turns()
  ask('service', 1)
  assert.equal(count(ask('a', 20), 'goes'), size - 1)
  ask('service', 1, 1)
  assert.deepEqual(all.release('a', 1), ['service0'])
})

test('lanes of an owner take turns: a long one does not delay a short one', () => {
  const { all, ask } = turns({ size: 1, share: 1 })
  ask('door', 1)
  ask('door', 50, 0, 'x')
  ask('door', 1, 0, 'y')
  assert.deepEqual(
    [all.release('door', 0), all.release('door', 0), all.release('door', 0)],
    [['doorx0'], ['doory0'], ['doorx1']],
  )
})

test('a full lane refuses, another one does not, and a removed request is skipped', () => {
  const { all, ask } = turns({ size: 1, share: 1, maxWaiting: 2 })
  assert.deepEqual(ask('a', 4), ['goes', 'waits', 'waits', 'refused'])
  assert.deepEqual(ask('b', 1), ['waits'])
  assert.deepEqual([all.remove('a', '', 'a1'), all.remove('a', '', 'a1')], [true, false])
  assert.deepEqual(
    [all.release('a', 0), all.release('a', 0), all.release('b', 0), all.waiting],
    [['a2'], ['b0'], [], 0],
  )
})

for (const [places, own] of [
  [1, 1],
  [2, 1],
  [3, 2],
  [10, 5],
] as const) {
  test(`with any requests for ${places} slots none is idle or used twice, and every waiting request gets one`, () => {
    let seed = places
    const below = (limit: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
      return Math.floor((seed / 2_147_483_648) * limit)
    }
    const { all } = turns({ size: places, share: own })
    const held = new Map<string, number>()
    const waits = new Map<string, number>()
    const go = (waiter: string, round: number) => {
      const owner = waiter.split(' ')[0] ?? ''
      held.set(owner, (held.get(owner) ?? 0) + 1)
      // At most five owners, each of which may be ahead with all its slots.
      const since = waits.get(waiter)
      if (since !== undefined) assert.ok(round - since <= 2_000, `${waiter} waited ${round - since} rounds`)
      waits.delete(waiter)
    }
    for (let round = 0; round < 4_000; round++) {
      const nowMs = round / 10
      const owner = ['a', 'b', 'c', 'd', 'service'][below(5)] ?? ''
      const waiter = `${owner} ${round}`
      if (below(2) === 0 && all.waiting < 300) {
        const answer = all.request(owner, String(below(2)), waiter, nowMs)
        if (answer === 'goes') go(waiter, round)
        else waits.set(waiter, round)
      } else {
        const busy = [...held].filter(([, n]) => n > 0).map(([one]) => one)
        const ends = busy[below(busy.length)]
        if (ends === undefined) continue
        held.set(ends, (held.get(ends) ?? 0) - 1)
        for (const next of all.release(ends, nowMs)) go(next, round)
      }
      const total = [...held.values()].reduce((sum, n) => sum + n, 0)
      assert.equal(total, all.held)
      assert.ok(total <= places)
      assert.equal(all.waiting, waits.size)
      const waiting = new Set([...waits.keys()].map((one) => one.split(' ')[0] ?? ''))
      if (total < places) for (const one of waiting) assert.ok((held.get(one) ?? 0) >= own, `${one} waits for nothing`)
    }
    // All running requests end; then all owners are removed.
    for (let left = all.held; left > 0; left = all.held) {
      const [ends] = [...held].find(([, n]) => n > 0) ?? ['']
      held.set(ends, (held.get(ends) ?? 0) - 1)
      for (const next of all.release(ends, 10_000)) go(next, 4_000)
    }
    assert.deepEqual([all.waiting, waits.size], [0, 0])
  })
}
