import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../../src/base/errors.ts'
import { createStreamLimits } from '../../src/events/live-routes.ts'

const member = (userId: string, workspaceId: string) => ({ userId, tokenId: null, workspaceId })

function refusalOf(open: () => unknown): ApiError {
  try {
    open()
  } catch (error) {
    if (error instanceof ApiError) return error
  }
  return assert.fail('It was not refused')
}

test('a member can have 20 streams, a workspace a quarter of 2,000, and closed streams free slots', () => {
  const admit = createStreamLimits()
  const leaves = Array.from({ length: 500 }, (_, n) => admit(member(`user ${Math.floor(n / 20)}`, 'a')))
  for (const refused of [member('user 0', 'b'), member('another', 'a')]) {
    const { statusCode, headers } = refusalOf(() => admit(refused))
    assert.deepEqual([statusCode, headers['retry-after']], [429, '10'])
  }
  for (const workspaceId of ['b', 'c', 'd']) {
    for (let n = 0; n < 500; n++) admit(member(`${workspaceId} ${n}`, workspaceId))
  }
  const { statusCode, headers } = refusalOf(() => admit(member('last', 'e')))
  assert.equal(statusCode, 503)
  assert.match(String(headers['retry-after']), /^[1-9]\d*$/)
  leaves[0]?.()
  admit(member('last', 'e'))
  assert.equal(refusalOf(() => admit(member('user 0', 'a'))).statusCode, 503)
})
