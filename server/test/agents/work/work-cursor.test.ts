import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type Candidate,
  type HeldCandidate,
  maxHeld,
  nextWork,
  parseWorkCursor,
  type WorkCursor,
  writeWorkCursor,
} from '../../../src/agents/work/work-cursor.ts'

const keyId = '01985e2a-7c3e-7f10-9a64-3f6a2b1c0d03'
const idOf = (n: number) => `01985e2a-7c3e-7f10-9a64-${String(n).padStart(12, '0')}`
const timeOf = (n: number) => new Date(Date.UTC(2026, 2, 1, 12, 0, n)).toISOString()
const until = timeOf(600)

/** New work, ordered by position; a number is due, a negative one is held. */
function byPlace(...places: number[]) {
  const all = places.map((place, n) => ({ id: idOf(n), nth: n + 1, place: Math.abs(place), since: null }))
  const held: HeldCandidate[] = all
    .filter((_, n) => (places[n] ?? 0) < 0)
    .map((one) => ({ ...one, event_place: one.place, until }))
  return { due: all.filter((_, n) => (places[n] ?? 0) > 0) as Candidate[], held }
}

/** Work that was pending at the first call, with the positions of its newest events; held if negative. */
function byTime(...places: number[]) {
  const all = places.map((place, n) => ({ id: idOf(n), nth: n + 1, place: null, since: timeOf(n), event: place }))
  return {
    due: all.filter(({ event }) => event > 0) as Candidate[],
    held: all.filter(({ event }) => event < 0).map((one) => ({ ...one, event_place: -one.event, until })),
  }
}

const after = (position: number, ...held: number[]): WorkCursor => ({ position, held, waiting: null })
const run = (from: WorkCursor | null, found: ReturnType<typeof byPlace>, limit = 2, end = { last: 90, reach: 90 }) => {
  const { reported, cursor, hasMore } = nextWork(from, end, found, limit)
  return { reported: reported.map(({ place, id }) => place ?? Number(id.slice(-3))), cursor, hasMore }
}

const cases: [what: string, got: ReturnType<typeof run>, expected: ReturnType<typeof run>][] = [
  ['nothing new', run(after(5), byPlace()), { reported: [], cursor: after(90), hasMore: false }],
  ['all is due', run(after(5), byPlace(7, 9)), { reported: [7, 9], cursor: after(90), hasMore: false }],
  ['more is due', run(after(5), byPlace(7, 9, 11)), { reported: [7, 9], cursor: after(9), hasMore: true }],
  [
    'the end of the feed is further than one statement reads',
    run(after(5), byPlace(-7), 2, { last: 90, reach: 50 }),
    { reported: [], cursor: after(50, 7), hasMore: true },
  ],
  ['one is held', run(after(5), byPlace(-6, 7, 9)), { reported: [7, 9], cursor: after(90, 6), hasMore: false }],
  [
    'what is held beyond the last one is read again',
    run(after(5), byPlace(-6, 7, 9, -10, 11)),
    { reported: [7, 9], cursor: after(9, 6), hasMore: true },
  ],
  ['a carried one is due', run(after(8, 3), byPlace(3)), { reported: [3], cursor: after(90), hasMore: false }],
  [
    'a carried one is still held',
    run(after(8, 3), byPlace(-3)),
    { reported: [], cursor: after(90, 3), hasMore: false },
  ],
  [
    'a carried one has a new event',
    run(after(8, 3), byPlace(-12)),
    { reported: [], cursor: after(90, 12), hasMore: false },
  ],
  ['a carried one is gone', run(after(8, 3), byPlace()), { reported: [], cursor: after(90), hasMore: false }],
  [
    'more carried ones are due than fit: the others stay',
    run(after(8, 1, 2, 3, 4), byPlace(1, 2, -3, 4, 12)),
    { reported: [1, 2], cursor: after(8, 3, 4), hasMore: true },
  ],
  [
    'the carried ones fit, the new ones do not',
    run(after(8, 1, 3), byPlace(1, -3, 12, 14)),
    { reported: [1, 12], cursor: after(12, 3), hasMore: true },
  ],
  [
    'the first call, with held ones between',
    run(null, byTime(20, -30, 40, 50)),
    {
      reported: [0, 2],
      cursor: { position: 90, held: [30], waiting: { since: new Date(timeOf(2)), id: idOf(2) } },
      hasMore: true,
    },
  ],
  ['the end of the first call', run(null, byTime(20, -30)), { reported: [0], cursor: after(90, 30), hasMore: false }],
]

for (const [what, got, expected] of cases) test(`next work: ${what}`, () => assert.deepEqual(got, expected))

test('a carried conversation does not move the position of work that was pending at the first call', () => {
  const waiting = { since: new Date(timeOf(3)), id: idOf(3) }
  const from = { position: 60, held: [20, 30], waiting }
  const found = { due: [...byPlace(20, 30).due, { id: idOf(9), nth: 3, place: null, since: timeOf(9) }], held: [] }
  assert.deepEqual(run(from, found, 1), { reported: [20], cursor: { ...from, held: [30] }, hasMore: true })
})

test('more held ones than a cursor carries end the page before the first that does not fit', () => {
  const places = Array.from({ length: maxHeld + 1 }, (_, n) => -(10 + n))
  const stopped = run(after(5), byPlace(7, ...places, 500), 10, { last: 900, reach: 900 })
  const carried = places.slice(0, maxHeld).map((place) => -place)
  assert.deepEqual(stopped, { reported: [7], cursor: after(9 + maxHeld, ...carried), hasMore: false })

  const pending = run(null, byTime(...places, 500), 10, { last: 900, reach: 900 })
  const waiting = { since: new Date(timeOf(maxHeld - 1)), id: idOf(maxHeld - 1) }
  assert.deepEqual(pending, { reported: [], cursor: { position: 900, held: carried, waiting }, hasMore: false })
})

const cursors: WorkCursor[] = [
  after(0),
  after(42, 7, 41, 42),
  { position: 9, held: [], waiting: { since: new Date(timeOf(1)), id: idOf(1) } },
  { position: 9, held: [1, 9], waiting: { since: new Date(timeOf(1)), id: idOf(1) } },
  { ...after(42, 7), instructions: 12 },
  { position: 9, held: [1], waiting: { since: new Date(timeOf(1)), id: idOf(1) }, instructions: 2_147_483_647 },
  after(2 ** 52, ...Array.from({ length: maxHeld }, (_, n) => 2 ** 52 - (maxHeld - n) * 46_000)),
]

test('a cursor is read as it was written, and fits its limit with as many held ones as it carries', () => {
  for (const cursor of cursors) assert.deepEqual(parseWorkCursor(keyId, writeWorkCursor(keyId, cursor)), cursor)
})

test('a cursor with impossible held positions is refused', () => {
  const encode = (...rest: unknown[]) => Buffer.from(JSON.stringify(['work', keyId, 42, ...rest])).toString('base64url')
  assert.deepEqual(parseWorkCursor(keyId, encode('1.2')), after(42, 39, 41))
  for (const bad of [
    '',
    '.',
    '1..2',
    '-1',
    'zz',
    7,
    null,
    '1'.repeat(11),
    Array.from({ length: 101 }, () => '0').join('.'),
  ]) {
    assert.equal(parseWorkCursor(keyId, encode(bad)), null, String(bad))
  }
})
