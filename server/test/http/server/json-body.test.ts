import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { InvalidInput } from '../../../src/base/errors.ts'
import { parseJson } from '../../../src/http/server/request-body.ts'

const read = (text: string) => parseJson(Buffer.from(text))

function problemOf(text: string | Buffer): string {
  try {
    parseJson(Buffer.from(text))
    return 'none'
  } catch (error) {
    assert.ok(error instanceof InvalidInput)
    const [issue] = error.issues
    return `${issue?.path}: ${issue?.message}`
  }
}

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)

test('ambiguous JSON is rejected with its path', () => {
  const rows: [text: string, problem: string][] = [
    ['{"a":1,"a":1}', 'a: is given more than once'],
    ['{"a":{"b":[{},{"c":1,"d":2,"c":3}]}}', 'a.b[1].c: is given more than once'],
    ['{"a":1,"\\u0061":2}', 'a: is given more than once'],
    [`{"a":${nested(5000)},"a":1}`, 'a: is given more than once'],
    ['{"x":"\\"","a":1, "a" : 2}', 'a: is given more than once'],
    ['[{"a":1},{"a":1}]', 'none'],
    ['{"a":{"a":1}}', 'none'],
    ['{"a":":","b":"\\\\","c":"{\\"a\\":1}"}', 'none'],
    ['{"":1}', 'none'],
    [nested(32), 'none'],
    [nested(33), `${'[0]'.repeat(32)}: is nested deeper than 32 levels`],
    ['{"a":{"__proto__":1}}', 'a.__proto__: is not a known field'],
    ['{"a":["\\u0000"]}', 'a[0]: must not contain the NUL character'],
    ['{"a":"x\\ud800"}', 'a: must not contain an unpaired surrogate'],
    ['{"a":"\\udc00\\ud83d"}', 'a: must not contain an unpaired surrogate'],
    ['{"a":"\\ud83d\\ude00"}', 'none'],
    ['{"a":"\\\\u0000"}', 'none'],
    ['{"a":1e999}', 'a: is out of range'],
    ['{"a":-1e999}', 'a: is out of range'],
    ['{"a":9007199254740993}', 'a: is out of range'],
    ['{"a":9007199254740991}', 'none'],
    ['{"a":0.1}', 'none'],
    ['', ': is not valid JSON'],
    ['{"a":"\u0000"}', ': is not valid JSON'],
    ['{"a":1}x', ': is not valid JSON'],
  ]
  for (const [text, problem] of rows) assert.equal(problemOf(text).replace(/ \(line.*/, ''), problem, text.slice(0, 80))
})

test('invalid UTF-8 is rejected, and a byte order mark is skipped', () => {
  assert.equal(problemOf(Buffer.from([0x22, 0xff, 0x22])), ': is not valid UTF-8')
  assert.equal(problemOf(Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])), ': is not valid UTF-8')
  assert.deepEqual(parseJson(Buffer.from('\uFEFF{"a":"ü😀"}')), { a: 'ü😀' })
})

test('error messages never quote the body', () => {
  for (const text of ['{"a": secret}', 'secret', '{"secret"', '["secret",]']) {
    assert.ok(!problemOf(text).includes('secret'), text)
  }
})

const text = fc.string({ unit: 'binary' }).filter((value) => !value.includes('\0') && value !== '__proto__')
const { json } = fc.letrec((tie) => ({
  json: fc.oneof(
    { maxDepth: 6 },
    text,
    fc.boolean(),
    fc.constant(null),
    fc.maxSafeInteger(),
    fc.double({ noNaN: true, min: -1e15, max: 1e15 }).map((value) => value + 0),
    fc.array(tie('json'), { maxLength: 5 }),
    fc.dictionary(text, tie('json'), { maxKeys: 5 }),
  ),
}))

test('JSON with unique keys parses like JSON.parse, with any whitespace', () => {
  fc.assert(
    fc.property(json, fc.constantFrom(undefined, 1, '\t'), (value, indent) => {
      const written = JSON.stringify(value, null, indent)
      assert.deepEqual(read(written), JSON.parse(written))
    }),
    { numRuns: 500 },
  )
})

test('duplicate keys are found at any depth', () => {
  const members = fc.uniqueArray(fc.tuple(text, json), { minLength: 1, maxLength: 6, selector: ([key]) => key })
  fc.assert(
    fc.property(members, fc.nat(), fc.nat(), json, (pairs, pick, place, value) => {
      const repeated = pairs[pick % pairs.length]?.[0] ?? ''
      const written = pairs.map(([key, member]) => `${JSON.stringify(key)}:${JSON.stringify(member)}`)
      written.splice(place % (pairs.length + 1), 0, `${JSON.stringify(repeated)} : ${JSON.stringify(value)}`)
      assert.match(problemOf(`{${written.join(',')}}`), /is given more than once$/)
    }),
  )
})

test('a body of 1 MiB is parsed in linear time, whatever its content', () => {
  const megabyte = 1024 * 1024
  const bodies = {
    keys: `{${Array.from({ length: megabyte / 12 }, (_, index) => `"${index}":[]`).join(',')}}`,
    duplicate: `{${'"a":1,'.repeat(megabyte / 6 - 1)}"a":1}`,
    string: `["${'a'.repeat(megabyte - 4)}"]`,
    escapes: `["${'\\"'.repeat(megabyte / 2 - 4)}"]`,
    brackets: '['.repeat(megabyte),
    depth: nested(megabyte / 2),
    numbers: `[${'1,'.repeat(megabyte / 2 - 2)}1]`,
  }
  for (const [name, body] of Object.entries(bodies)) {
    const [part, whole] = [cpuMs(body.slice(0, body.length / 16)), cpuMs(body)]
    // Sixteen times the bytes take sixteen times the work; with quadratic growth it would be 256 times.
    assert.ok(whole < 64 * Math.max(part, floorMs), `${name}: ${part} ms, then ${whole} ms`)
  }
})

/** Below this, measurements are noise; measured are 3 to 20 ms in total. */
const floorMs = 2

/** Minimum CPU time of several runs, so that other programs do not count. */
function cpuMs(body: string): number {
  const bytes = Buffer.from(body)
  const times = Array.from({ length: 4 }, () => {
    const before = process.cpuUsage()
    problemOf(bytes)
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  })
  return Math.min(...times)
}
