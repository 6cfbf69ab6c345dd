import assert from 'node:assert/strict'
import { test } from 'node:test'
import { regexSources } from '../../support/regex/regex-sources.ts'
import { worstOf } from '../../support/regex/worst-of.ts'

const { written } = regexSources()

test('no expression that is written down takes more steps than in proportion to its text', () => {
  assert.ok(written.length > 200, 'the expressions are found')
  const found = written.map(({ expression, files }) => [worstOf(expression), ...files])
  assert.deepEqual(
    found.filter(([worst]) => worst !== undefined),
    [],
  )
})
