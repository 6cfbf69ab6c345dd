import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findAdvice } from '../../../src/channels/health/advice.ts'
import { effectOfCode, errorMeanings, holdRuleOf, holdRuleTable } from '../../../src/channels/waba/errors.ts'
import { resultOf } from '../../../src/channels/waba/sender.ts'

const down = 'connection_unavailable'
const billable = 'billable_held'
const stale = 'templates_stale'

/** Result of a send by HTTP status and code. */
const rows: [expected: string, status: number, codes: number[], subcode?: number][] = [
  [down, 401, [0, 190]],
  [down, 500, [3, 131045, 133000]],
  [down, 403, [10, 200, 299, 131031, 368, 131005]],
  [down, 400, [133016, 131037, 133010]],
  [billable, 400, [131042]],
  [stale, 404, [132001]],
  [stale, 400, [132007, 132015, 132016]],
  ['unreachable', 400, [1, 4, 80007, 130429, 131048, 131056]],
  ['unreachable', 503, [2, 133004]],
  ['unreachable', 429, [130429]],
  ['unreachable', 500, [131000, 131016, 131057, 999999]],
  [
    'none',
    400,
    [
      33, 100, 130472, 131008, 131009, 131021, 131026, 131030, 131047, 131049, 131050, 131051, 131052, 131053, 131062,
      132000, 132005, 132012, 132018, 132068, 132069, 134011, 135000, 137000, 999999,
    ],
  ],
  ['none', 403, [130497]],
  [down, 400, [190], 463],
  [down, 400, [100], 33],
]

test('a platform code has the meaning in the table', () => {
  for (const [expected, status, codes, subcode] of rows) {
    for (const code of codes) {
      const error = { message: 'x', code, ...(subcode ? { error_subcode: subcode } : {}) }
      const result = resultOf({ outcome: 'answered', status, body: JSON.stringify({ error }) })
      const isAway = expected === 'unreachable'
      const meaning = isAway ? { outcome: 'unreachable' } : { outcome: 'refused', effect: expected }
      assert.deepEqual(result, { ...meaning, errorCode: String(code) }, `${code} with ${status}`)
    }
  }
})

test('every row of the table is tested', () => {
  const tested = new Set(rows.flatMap(([, , codes]) => codes))
  assert.deepEqual(
    [...errorMeanings.keys()].filter((code) => !tested.has(code)),
    [],
  )
})

const bodies: [what: string, status: number, body: string, outcome: string, errorCode: string][] = [
  ['a page of HTML', 502, '<html>Bad gateway</html>', 'unreachable', 'http_502'],
  ['nothing', 500, '', 'unreachable', 'http_500'],
  ['a code that is no number', 503, '{"error":{"code":"x"}}', 'unreachable', 'http_503'],
  ['a redirect', 302, '', 'unreachable', 'http_302'],
  ['too many requests without a code', 429, '', 'unreachable', 'http_429'],
  ['a refusal without a code', 400, 'no', 'refused', 'http_400'],
  ['success without an id', 200, '{"messages":[]}', 'unknown', 'no_message_id'],
  ['success that is no JSON', 200, '<html>', 'unknown', 'no_message_id'],
]

test('a response without a code is interpreted by its status', () => {
  for (const [what, status, body, outcome, errorCode] of bodies) {
    const result = resultOf({ outcome: 'answered', status, body })
    assert.deepEqual([result.outcome, 'errorCode' in result && result.errorCode], [outcome, errorCode], what)
  }
})

test('a code in a status has its effect too', () => {
  const codes = ['131042', '132015', '131047', '131000', 'unknown', '']
  assert.deepEqual(codes.map(effectOfCode), [billable, stale, 'none', 'none', 'none', 'none'])
})

const minutes = (ms: number) => ms / 60_000

/** For each code about the connection: what it stops, how it is tested, and the first and longest delay in minutes. */
const stops: [stops: string, probe: string, firstMin: number, maxMin: number, ...codes: string[]][] = [
  ['billable', 'send', 5, 60, '131042', '1025', 'payment_required', 'http_402'],
  ['all', 'send', 10, 360, '3', '10', '131005', '131045', '133000', '133010', '133016', '200', '299'],
  ['all', 'send', 60, 1440, '368', '131031', '131037', '1031', 'blocked'],
  ['all', 'read', 10, 360, '0', '190', '1005', 'invalid_api_key', 'http_401', 'http_403', '100'],
]

test('a connection code stops what the table says, is retried, and has advice', () => {
  for (const [stops_, probe, firstMin, maxMin, ...codes] of stops) {
    for (const code of codes) {
      const stop = holdRuleOf(code)
      assert.deepEqual(
        [stop.stops, stop.probe, minutes(stop.firstMs), minutes(stop.maxMs)],
        [stops_, probe, firstMin, maxMin],
        code,
      )
      assert.ok(findAdvice(`platform_error_${code}`) !== null, code)
    }
  }
  const known = new Set(stops.flatMap(([, , , , ...codes]) => codes))
  const listed = holdRuleTable.flatMap(([, ...codes]) => codes.map(String))
  assert.deepEqual(
    listed.filter((code) => !known.has(code)),
    [],
  )
})
