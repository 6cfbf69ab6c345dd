import assert from 'node:assert/strict'
import { test } from 'node:test'
import { effectOfCode, errorMeanings } from '../../../src/channels/waba/errors.ts'
import { resultOf } from '../../../src/channels/waba/sender.ts'

type Row = [code: number, httpStatus: number, outcome: string, subcode?: number]
const down = 'connection_unavailable'
const stale = 'templates_stale'

const rows: Row[] = [
  [0, 401, down],
  [190, 401, down],
  [190, 400, down, 463],
  [3, 500, down],
  [10, 403, down],
  [200, 403, down],
  [299, 403, down],
  [1, 400, 'unreachable'],
  [2, 503, 'unreachable'],
  [4, 400, 'unreachable'],
  [80007, 400, 'unreachable'],
  [130429, 400, 'unreachable'],
  [130429, 429, 'unreachable'],
  [131048, 400, 'unreachable'],
  [131056, 400, 'unreachable'],
  [133016, 400, down],
  [33, 400, 'none'],
  [100, 400, 'none'],
  [100, 400, down, 33],
  [130472, 400, 'none'],
  [130497, 403, 'none'],
  [131031, 403, down],
  [368, 403, down],
  [131000, 500, 'unreachable'],
  [131005, 403, down],
  [131008, 400, 'none'],
  [131009, 400, 'none'],
  [131016, 500, 'unreachable'],
  [131021, 400, 'none'],
  [131026, 400, 'none'],
  [131030, 400, 'none'],
  [131037, 400, down],
  [131042, 400, down],
  [131045, 500, down],
  [131047, 400, 'none'],
  [131049, 400, 'none'],
  [131050, 400, 'none'],
  [131051, 400, 'none'],
  [131052, 400, 'none'],
  [131053, 400, 'none'],
  [131057, 500, 'unreachable'],
  [131062, 400, 'none'],
  [132000, 400, 'none'],
  [132001, 404, stale],
  [132005, 400, 'none'],
  [132007, 400, stale],
  [132012, 400, 'none'],
  [132015, 400, stale],
  [132016, 400, stale],
  [132018, 400, 'none'],
  [132068, 400, 'none'],
  [132069, 400, 'none'],
  [133000, 500, down],
  [133004, 503, 'unreachable'],
  [133010, 400, down],
  [134011, 400, 'none'],
  [135000, 400, 'none'],
  [137000, 400, 'none'],
  [999999, 400, 'none'],
  [999999, 500, 'unreachable'],
]

for (const [code, status, expected, subcode] of rows) {
  test(`code ${code}${subcode ? `/${subcode}` : ''} with ${status} is ${expected}`, () => {
    const error = { message: 'x', code, ...(subcode ? { error_subcode: subcode } : {}) }
    const result = resultOf({ outcome: 'answered', status, body: JSON.stringify({ error }) })
    const errorCode = String(code)
    const meaning = expected === 'unreachable' ? { outcome: 'unreachable' } : { outcome: 'refused', effect: expected }
    assert.deepEqual(result, { ...meaning, errorCode })
  })
}

test('every row of the table is tested', () => {
  const tested = new Set(rows.map(([code]) => code))
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

for (const [what, status, body, outcome, errorCode] of bodies) {
  test(`an answer of ${status} with ${what} is ${outcome}`, () => {
    const result = resultOf({ outcome: 'answered', status, body })
    assert.equal(result.outcome, outcome)
    assert.equal('errorCode' in result && result.errorCode, errorCode)
  })
}

test('a code that comes in a status has its effect as well', () => {
  const codes = ['131042', '132015', '131047', '131000', 'unknown', '']
  assert.deepEqual(codes.map(effectOfCode), [down, stale, 'none', 'none', 'none', 'none'])
})
