import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseRange } from '../../../../src/inbox/team-api/files/send-file.ts'

const cases: [header: string | undefined, size: number, expected: [number, number] | 'beyond' | null][] = [
  [undefined, 10, null],
  ['bytes=0-0', 10, [0, 1]],
  ['bytes=0-', 10, [0, 10]],
  ['bytes=3-5', 10, [3, 6]],
  ['BYTES= 3-5 ', 10, [3, 6]],
  ['bytes=9-', 10, [9, 10]],
  ['bytes=3-99999999999999999999999', 10, [3, 10]],
  ['bytes=-4', 10, [6, 10]],
  ['bytes=-99', 10, [0, 10]],
  ['bytes=10-', 10, 'beyond'],
  ['bytes=99999999999999999999999-', 10, 'beyond'],
  ['bytes=10-12', 10, 'beyond'],
  ['bytes=-0', 10, 'beyond'],
  ['bytes=0-', 0, 'beyond'],
  ['bytes=-1', 0, 'beyond'],
  ['bytes=5-3', 10, null],
  ['bytes=-', 10, null],
  ['bytes=', 10, null],
  ['bytes=0-1,3-4', 10, null],
  ['bytes=a-b', 10, null],
  ['bytes=0x1-2', 10, null],
  ['bytes=+1-2', 10, null],
  ['bytes=1.5-2', 10, null],
  ['bytes=--1', 10, null],
  ['bytes 0-1', 10, null],
  ['lines=0-1', 10, null],
  ['', 10, null],
  [`bytes=0-${'9'.repeat(300)}`, 10, null],
]

for (const [header, size, expected] of cases) {
  test(`${header?.slice(0, 40) ?? 'no header'} of ${size} bytes`, () => {
    const range = parseRange(header, size)
    assert.deepEqual(range === null || range === 'beyond' ? range : [range.start, range.end], expected)
  })
}
