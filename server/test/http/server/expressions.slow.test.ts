import assert from 'node:assert/strict'
import { test } from 'node:test'
import { regexSources } from './regex-sources.ts'
import { worstOf } from './worst-of.ts'

const { written } = regexSources()

test('all regular expressions run in linear time', () => {
  assert.ok(written.length > 200, 'the expressions are found')
  const found = written.map(({ expression, files }) => [worstOf(expression), ...files])
  assert.deepEqual(
    found.filter(([worst]) => worst !== undefined),
    [],
  )
})

const slow: RegExp[] = [
  /(a+)+$/,
  /^(?:a|a)*b/,
  /^(\w+\s?)*$/,
  /^a*a*$/,
  /\s+$/,
  /^_+|_+$/g,
  /x*y/,
  /<[^>]*>/g,
  /^[([\s]*\+?[\d\s.()[\]/\p{Pd}\u2212]+$/u,
  /^[^\s:/]+\.[^\s:/]+(\/|$)/,
  /^[^\s@]+@[^\s@]+\.[^\s@]{2,}$/,
  /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g,
  /^(.*),(.*),(.*)$/,
  /(?=.*a)b/g,
]
const quick: RegExp[] = [
  /^\d+$/,
  /\s+/g,
  /^a*b*c*$/,
  /^(?:[a-z]+-)*[a-z]+$/,
  /^"(?:[^"\\]|\\.)*"$/,
  /(?<![_])_+$/,
  /\p{M}/gu,
  /^[a-f]{1,60}?x$/,
  /\bEdge?\//,
]

test('the measurement detects slow expressions', () => {
  for (const expression of slow) assert.ok(worstOf(expression), `${expression} is slow`)
  for (const expression of quick) assert.equal(worstOf(expression), undefined)
})
