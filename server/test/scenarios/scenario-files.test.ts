import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InvalidInput } from '../../src/base/errors.ts'
import { compareOutcomes, type Outcome } from '../../src/scenarios/scenario/compare-runs.ts'
import { junitOf } from '../../src/scenarios/scenario/junit.ts'
import { parseScenario, sandboxKeyOf } from '../../src/scenarios/scenario/parse-scenario.ts'
import { maxScenarioText } from '../../src/scenarios/scenario/scenario-schema.ts'
import { readStarterSet } from '../../src/scenarios/starter-set.ts'

const plain = { name: 'hello', title: 'Says hello', script: ['Hello'], expect: { answers: true } }
const issuesOf = (scenario: unknown): string[] => {
  try {
    parseScenario(typeof scenario === 'string' ? scenario : JSON.stringify(scenario), 'text')
    return []
  } catch (error) {
    assert.ok(error instanceof InvalidInput)
    return error.issues.map(({ path, message }) => `${path} ${message}`)
  }
}

const wrong: [scenario: unknown, issue: RegExp][] = [
  ['{\n"name": "a",\n}', /^text must be JSON \(line 3\)$/],
  ['x'.repeat(maxScenarioText + 1), /^text must have at most/],
  ['null', /^text /],
  [{ ...plain, name: 'Hello there' }, /^text\.name /],
  [{ ...plain, script: [] }, /^text\.script /],
  [{ ...plain, script: [{ say: 'x' }] }, /^text\.script\[0\] must be a text or an object with one of customer, send,/],
  [{ ...plain, script: ['a', { send: 'fax' }] }, /^text\.script\[1\]\.send /],
  [{ ...plain, script: [{ pause: 1, send: 'image' }] }, /^text\.script\[0\]\.pause /],
  [{ ...plain, script: [''] }, /^text\.script\[0\] /],
  [{ ...plain, expect: { handedOver: { urgence: 'high' } } }, /^text\.expect\.handedOver\.urgence /],
  [{ ...plain, expect: { sings: true } }, /^text\.expect\.sings /],
  [{ ...plain, start: { history: [{ boss: 'x' }] } }, /^text\.start\.history\[0\] must be/],
  [{ ...plain, start: { handBack: { summary: 'x' } } }, /^text\.start\.handBack needs start\.history$/],
  [{ ...plain, sandbox: { quietSeconds: 31 } }, /^text\.sandbox\.quietSeconds /],
]

for (const [scenario, issue] of wrong) {
  test(`${JSON.stringify(scenario).slice(0, 90)} is refused with the field`, () => {
    const issues = issuesOf(scenario)
    assert.ok(
      issues.some((one) => issue.test(one)),
      issues.join('\n'),
    )
  })
}

test('the starter set has 30 valid scenarios with different names, in three languages', () => {
  const starter = readStarterSet().map(({ scenario }) => scenario)
  assert.equal(starter.length, 30)
  assert.equal(new Set(starter.map(({ name }) => name)).size, 30)
  const languages = new Set(starter.map(({ expect }) => expect.language))
  assert.deepEqual([...languages].filter((one) => one !== undefined).sort(), ['en', 'es', 'pt'])
})

test('scenarios share a sandbox if it is described alike, in any order of the fields', () => {
  const one = parseScenario(JSON.stringify({ ...plain, sandbox: { open: false, maxParts: 2 } }))
  const other = parseScenario(JSON.stringify({ ...plain, sandbox: { maxParts: 2, open: false } }))
  assert.equal(sandboxKeyOf(one), sandboxKeyOf(other))
  assert.notEqual(sandboxKeyOf(one), sandboxKeyOf(parseScenario(JSON.stringify(plain))))
})

const outcome = (passed: boolean, ...texts: string[]): Outcome => ({
  name: 'hello',
  verdict: passed ? 'passed' : 'failed',
  checks: [{ check: 'answers', passed, expected: 'an <answer>', actual: passed ? 'Hi' : '' }],
  entries: texts.map((text, n) => ({ atMs: n, from: n === 0 ? 'customer' : 'agent', kind: 'message', text })),
})

test('a run is compared with the one before by expectations and by lines, not by times', () => {
  assert.deepEqual(compareOutcomes(null, outcome(true)), { before: null, broken: [], fixed: [], lines: [] })
  assert.deepEqual(compareOutcomes(outcome(true, 'Hello', 'Hi', 'Bye'), outcome(false, 'Hello', 'Hey', 'Bye')), {
    ...{ before: 'passed', broken: ['answers: an <answer>'], fixed: [] },
    lines: [
      { mark: ' ', text: 'customer: Hello' },
      { mark: '-', text: 'agent: Hi' },
      { mark: '+', text: 'agent: Hey' },
      { mark: ' ', text: 'agent: Bye' },
    ],
  })
  const later = {
    ...outcome(true, 'Hello'),
    entries: outcome(true, 'Hello').entries.map((one) => ({ ...one, atMs: 99 })),
  }
  assert.deepEqual(compareOutcomes(outcome(false, 'Hello'), later), {
    ...{ before: 'failed', broken: [], fixed: ['answers: an <answer>'], lines: [] },
  })
})

test('JUnit has a case for each scenario, and no character that XML does not have', () => {
  const results = [
    { ...outcome(true, 'Hello'), ms: 1500 },
    { ...outcome(false, 'Hello', 'a\u0000b & "c"'), name: 'other', ms: 500 },
  ]
  assert.equal(
    junitOf('agent <1>', results),
    `<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="2" failures="1" errors="0" time="2.000">
  <testsuite name="agent &lt;1&gt;" tests="2" failures="1" errors="0" time="2.000">
    <testcase classname="agent &lt;1&gt;" name="hello" time="1.500"></testcase>
    <testcase classname="agent &lt;1&gt;" name="other" time="0.500"><failure message="answers: expected an &lt;answer&gt;">answers: expected an &lt;answer&gt;; found nothing

customer: Hello
agent: ab &amp; &quot;c&quot;</failure></testcase>
  </testsuite>
</testsuites>
`,
  )
})
