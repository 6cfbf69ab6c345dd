import { outcomeUnknown, type Rung, rungOfParts } from '../conversation/status-ladder.ts'
import type { Verdict } from './dispatch-queries.ts'

/** What the caller of a send is told, in the very words that each repeat gets. */
export interface Answer {
  status: number
  body: string
}

export interface Part extends Rung {
  part: number
  externalIndex: Buffer | null
}

/**
 * Why a send is settled now: its process has the platform's answer (`answered`), its process is gone (`abandoned`), or
 * nobody has told its outcome for too long (`given up`).
 */
export type Ending = 'answered' | 'abandoned' | 'given up'

export interface End {
  /** Where the message stands, by its parts. */
  rung: Rung
  parts: Part[]
  answer: Answer
}

/** What has become of a send whose parts stand like this; null while some part's outcome is open. */
export function endOf(messageId: string, parts: readonly Part[], verdict: Verdict | null, ending: Ending): End | null {
  const closed = parts.map((part) => (isLost(part, parts, ending) ? { ...part, ...lost(part, parts) } : part))
  const rung = rungOfParts(closed)
  if (rung.status === 'pending') return null
  if (rung.status !== 'failed') return { rung, parts: closed, answer: accepted(messageId, 'sent') }
  const answer = verdict === 'undelivered' ? undelivered(messageId) : accepted(messageId, 'failed')
  return { rung, parts: closed, answer }
}

// Behind a part that failed no further one is sent; and what is silent for too long counts as failed.
function isLost(part: Part, parts: readonly Part[], ending: Ending): boolean {
  return part.status === 'pending' && (ending === 'given up' || parts.some(({ status }) => status === 'failed'))
}

function lost({ part }: Part, parts: readonly Part[]): Rung {
  const isBehindFailure = parts.some((other) => other.status === 'failed' && other.part < part)
  return { status: 'failed', errorCode: isBehindFailure ? 'not_sent' : outcomeUnknown }
}

function accepted(messageId: string, status: 'sent' | 'failed'): Answer {
  return { status: 202, body: JSON.stringify({ message_id: messageId, status }) }
}

function undelivered(messageId: string): Answer {
  const statusMessage = 'The chat platform did not deliver the message'
  const data = { code: 'DELIVERY_FAILED', message_id: messageId }
  return { status: 502, body: JSON.stringify({ statusCode: 502, statusMessage, data }) }
}
