import assert from 'node:assert/strict'
import {
  type Outgoing,
  type OutgoingAnswer,
  openOutgoing,
  type StreamAnswer,
} from '../../../src/base/outgoing/guarded-fetch.ts'

/** The guarded way out, with this machine allowed: the outside of the tests is on it. */
export const openTestOutgoing = (): Outgoing => openOutgoing({ allowCidrs: ['127.0.0.0/8', '::1'] })

/** The kind of failure, and whether the request may have left. */
export function failureOf(answer: OutgoingAnswer | StreamAnswer): [error: string, hasLeft: boolean] {
  assert.ok(answer.outcome === 'failed', 'it was answered')
  return [answer.error, answer.hasLeft]
}
