import type { Sql } from '../../base/db.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import { openAnswer } from '../deliver/bodies.ts'
import { type DeliveryRow, shownState } from './deliveries.ts'

export interface AttemptRow {
  number: number
  at: Date
  status: number | null
  ms: number
  error: string | null
  answer: Buffer | null
}

/**
 * What became of one event at an endpoint; undefined when nothing has yet. Found by its place: an index by the ids of
 * events would cost every delivery a write.
 */
export async function findDelivery(
  sql: Sql,
  workspaceId: string,
  endpointId: string,
  position: number,
): Promise<(Omit<DeliveryRow, 'at' | 'status' | 'ms' | 'error'> & { delivered: AttemptRow | null }) | undefined> {
  const [row] = await sql<(DeliveryRow & { answer: Buffer | null })[]>`
    select d.position, d.event_id, d.event_name, d.occurred_at, d.masked, ${shownState(sql)} as state, d.attempts,
      d.due_at, d.delivered_at as at, d.delivered_status as status, d.delivered_ms as ms, d.delivered_answer as answer
    from webhook_deliveries d
    join webhook_queues q on q.workspace_id = d.workspace_id and q.endpoint_id = d.endpoint_id
    where d.workspace_id = ${workspaceId}
      and d.endpoint_id = ${endpointId}
      and d.position = ${position}`
  if (row === undefined) return undefined
  const { at, status, ms, answer, ...delivery } = row
  const delivered = at === null ? null : { number: row.attempts, at, status, ms: ms ?? 0, error: null, answer }
  return { ...delivery, delivered }
}

/** The attempts that stand apart from their delivery, in order. */
export async function listAttempts(
  sql: Sql,
  workspaceId: string,
  endpointId: string,
  position: number,
): Promise<AttemptRow[]> {
  return sql<AttemptRow[]>`
    select number, at, status, ms, error, answer
    from webhook_attempts
    where workspace_id = ${workspaceId}
      and endpoint_id = ${endpointId}
      and position = ${position}
    order by number`
}

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
export function explain({ status, error }: Pick<AttemptRow, 'status' | 'error'>): string | null {
  if (status === null) return sentences[error ?? ''] ?? 'No answer came.'
  if (status >= 200 && status < 300) return null
  if (status === 410) return 'It answered 410, which asks us to stop: the endpoint was disabled.'
  if (status >= 300 && status < 400)
    return `It answered ${status}: redirects are not followed, so set the final address.`
  return `It answered ${status}. Only 2xx tells that the event was taken.`
}

export function presentAttempt(keyring: Keyring, endpointId: string, position: number, attempt: AttemptRow) {
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
