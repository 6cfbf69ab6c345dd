import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { faultTests } from '../../../scripts/faults/fault-tests.ts'
import { mergeReports, type Report, type Result, readPage, tableOf, writePage } from '../../../scripts/faults/report.ts'
import { parseOutput } from '../../../scripts/faults/run-fault-test.ts'

const kills: Result = { name: 'kills', tries: 102, unit: 'kills', seconds: 1234, findings: 0, hasFixedCases: false }
const cases: Result = { name: 'cases', tries: 71, unit: 'cases', seconds: 9, findings: 0, hasFixedCases: true }

function report(...results: Result[]): Report {
  const runs = [{ when: '2026-03-10 12:00', commit: 'abcdef0', minutes: 20, tests: results.length, findings: 0 }]
  return { version: '1.0.0', results, runs }
}

test('every fault test has files, its tests read its variables, and names are unique', () => {
  for (const { name, files, testNames = [], sizes = {}, seed, guarantee } of faultTests) {
    const found = files.flatMap((file) => globSync(file))
    assert.ok(found.length >= files.length, name)
    const read = [...found, 'server/test/support/program/two-nodes.ts']
    const text = read.map((file) => readFileSync(file, 'utf8')).join('\n')
    for (const variable of [...Object.keys(sizes), ...(seed ? [seed] : [])]) {
      assert.ok(text.includes(`process.env.${variable}`), `${name}: ${variable}`)
    }
    for (const part of testNames) assert.ok(text.includes(part), `${name}: ${part}`)
    assert.match(name, /^[a-z][a-z-]*$/)
    assert.ok(guarantee.length > 20, name)
  }
  assert.equal(new Set(faultTests.map(({ name }) => name)).size, faultTests.length)
})

test('test output is parsed: passed tests, failed tests once each, and printed counts', () => {
  const output = `
✖ server/test/some.test.ts › two × three: it breaks
  npm test -- server/test/some.test.ts --test-name-pattern="two × three: it breaks"
  AssertionError
  ℹ 12 kills
✖ server/test/some.test.ts (1.5 s)
  ℹ 30 kills, of which 2 were late
  ℹ 7 acknowledged
✔ server/test/other.test.ts (0.1 s)

✖ server/test/some.test.ts › two × three: it breaks
1 passed, 1 failed, 1 skipped`
  const failed = ['two × three: it breaks']
  assert.deepEqual(parseOutput(output, 'kills'), { failed, passed: 1, skipped: 1, unitCount: 42 })
})

test('runs of one version add up on the page, and its hand-written part is kept', () => {
  const first = writePage(mergeReports(report(), report(kills, cases), ['kills', 'cases']), '')
  assert.ok(first.includes('| kills | 102 | kills | 1,234 | 0 | 2.9 % |'), first)
  assert.ok(first.includes('| cases | 71 | cases | 9 | 0 | – |'), first)
  const edited = first.replace('Nothing yet.', 'A thing.')
  const failing = { ...kills, findings: 1 }
  const second = writePage(
    mergeReports(readPage(edited, '1.0.0'), report(failing, { ...cases, tries: 70 }), ['kills', 'cases']),
    edited,
  )
  assert.ok(second.includes('| kills | 204 | kills | 2,468 | 1 | found |'), second)
  assert.ok(second.includes('| cases | 71 | cases | 18 | 0 | – |'), second)
  assert.ok(second.endsWith('## What was found\n\nA thing.\n'))
  assert.equal(readPage(second, '1.0.0').runs.length, 3)
  assert.deepEqual(readPage(second, '1.1.0'), { version: '1.1.0', results: [], runs: [] })
})

test('no finding in N tries bounds the rate by 3/N', () => {
  const bounds = [3, 300, 21_000].map((n) =>
    tableOf([{ ...kills, tries: n }])
      .split('|')
      .at(-2)
      ?.trim(),
  )
  assert.deepEqual(bounds, ['100 %', '1 %', '0.014 %'])
})
