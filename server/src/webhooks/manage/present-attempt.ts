import type { Keyring } from '../../base/sealing/keyring.ts'
import { openAnswer } from '../deliver/bodies.ts'
import type { LoggedAttempt } from './deliveries.ts'

const sentences: Record<string, string> = {
  invalid_address: 'The address cannot be used: change it.',
  forbidden_address: 'The name leads to an address that is not public. The operator may allow it.',
  invalid_request: 'The request could not be made: check the headers of the endpoint.',
  dns: 'The name of the host could not be resolved.',
  connect: 'No connection came about: is the receiver running, and open to the internet?',
  tls: 'The encrypted connection failed: check the certificate of the receiver.',
  withheld: 'The service held it back, and sends it again.',
  timeout: 'The answer took longer than 15 seconds: answer first, then work.',
  reset: 'The connection ended before the answer was there.',
  answer: 'What came back is no answer in HTTP.',
  internal: 'The service could not make the body. The log of the server says more.',
  expired: 'The event is no longer kept.',
}

/** What an attempt came to, in a sentence; null when it was taken. */
export function explain({ status, error }: Pick<LoggedAttempt, 'status' | 'error'>): string | null {
  if (status === null) return sentences[error ?? ''] ?? 'No answer came.'
  if (status >= 200 && status < 300) return null
  if (status === 410) return 'It answered 410, which asks us to stop: the endpoint was disabled.'
  if (status >= 300 && status < 400)
    return `It answered ${status}: redirects are not followed, so set the final address.`
  return `It answered ${status}. Only 2xx tells that the event was taken.`
}

export function presentAttempt(keyring: Keyring, endpointId: string, position: number, attempt: LoggedAttempt) {
  const { number, at, status, ms, error, answer } = attempt
  return {
    number,
    at: at.toISOString(),
    status,
    ms,
    error,
    explanation: explain(attempt),
    answer: answer === null ? null : openAnswer(keyring, { endpointId, position, number }, answer),
  }
}
