import assert from 'node:assert/strict'
import {
  type Outgoing,
  type OutgoingAnswer,
  openOutgoing,
  type StreamAnswer,
} from '../../../src/base/outgoing/guarded-fetch.ts'

/** Opens the guarded HTTP client with this machine allowed, where the tests' servers run. */
export const openTestOutgoing = (): Outgoing => openOutgoing({ allowCidrs: ['127.0.0.0/8', '::1'] })

/** Returns the kind of failure, and whether the request may have been sent. */
export function assertFailure(answer: OutgoingAnswer | StreamAnswer): [error: string, hasLeft: boolean] {
  assert.ok(answer.outcome === 'failed', 'the request succeeded')
  return [answer.error, answer.wasSent]
}
