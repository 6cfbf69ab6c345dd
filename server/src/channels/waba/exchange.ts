import type { Clock } from '../../base/clock.ts'
import type { Outgoing } from '../../base/outgoing/guarded-fetch.ts'

/** What calls to the platform stand on. */
export interface Wire {
  outgoing: Outgoing
  clock: Clock
}

export interface Call {
  method: 'GET' | 'POST'
  url: string
  /** With the credential. */
  headers: Record<string, string>
  body?: object
  timeoutMs: number
  /** No byte leaves at or after this. */
  deadline?: Date
}

/** What became of a call. `not_sent` is certain: nothing left. After `lost` the platform may have acted on it. */
export type Exchange =
  | { outcome: 'answered'; status: number; body: string }
  | { outcome: 'not_sent'; code: string }
  | { outcome: 'lost'; code: string }

const maxAnswerBytes = 8 * 1024 * 1024

/** One HTTP call without retries or redirects; never throws. */
export async function exchange({ outgoing, clock }: Wire, call: Call): Promise<Exchange> {
  const { method, url, body, timeoutMs, deadline } = call
  const answer = await outgoing.call({
    method,
    url,
    headers: {
      ...call.headers,
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    body: body === undefined ? null : JSON.stringify(body),
    timeoutMs,
    maxAnswerBytes,
    maySend: () => deadline === undefined || clock.now() < deadline,
  })
  if (answer.outcome === 'answered') {
    if (!answer.isWhole) return { outcome: 'lost', code: 'answer_too_large' }
    return { outcome: 'answered', status: answer.status, body: answer.body.toString('utf8') }
  }
  const code = answer.error === 'withheld' ? 'deadline_passed' : answer.code
  return { outcome: answer.hasLeft ? 'lost' : 'not_sent', code }
}

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
