import type { OutgoingAnswer } from '../../base/outgoing/guarded-fetch.ts'
import type { OutgoingRequest } from '../../base/outgoing/http-exchange.ts'
import { inSpan } from '../../base/scheduling/work-context.ts'
import { unpackTraceparent } from '../../base/tracing/span.ts'
import {
  afterFailure,
  afterSuccess,
  decideRetry,
  expiredError,
  hasFailedTooLong,
  internalError,
  isPaused,
  isProbed,
  isReceiverFault,
  retryAfterMs,
} from '../endpoint/retry-policy.ts'
import { signatures } from '../endpoint/signing.ts'
import { type Delivery, type DeliveryAttempt, headersOf, renderPayload } from './delivery.ts'
import type { DeliveryLoopDeps, Queue } from './queue.ts'

const maxInFlight = 16
const timeoutMs = 15_000
const maxAnswerBytes = 1024
const slowDownStatuses = [429, 503]

/** Starts as many requests as allowed. Each runs independently and wakes the queue when it ends. */
export function startRequests(deps: DeliveryLoopDeps, queue: Queue): void {
  while (canStartRequest(deps, queue)) {
    const isFailing = queue.health.failuresInARow > 0
    if (!deps.slots.take({ isFailing, inFlight: queue.inFlight }, queue.signal.wake)) return
    const delivery = queue.lanes.take()
    if (delivery === undefined) {
      deps.slots.release(isFailing)
      return
    }
    queue.inFlight++
    void deliver(deps, queue, delivery).finally(() => {
      queue.inFlight--
      deps.slots.release(isFailing)
      startRequests(deps, queue)
      queue.signal.wake()
    })
  }
}

export function canStartRequest({ clock }: DeliveryLoopDeps, queue: Queue): boolean {
  return (
    queue.lanes.hasReady() &&
    queue.inFlight < (isProbed(queue.health) ? 1 : maxInFlight) &&
    isLeaseValid(queue) &&
    !isPaused(queue.health, clock.now())
  )
}

// A process that was suspended must not send what another worker has claimed meanwhile.
function isLeaseValid(queue: Queue): boolean {
  return !queue.isEnding && !queue.isLost && performance.now() < queue.leaseEndsAt
}

async function deliver(deps: DeliveryLoopDeps, queue: Queue, delivery: Delivery): Promise<void> {
  const { lanes, results } = queue
  const outcome = await attemptDelivery(deps, queue, delivery)
  if (queue.isLost) return
  if (outcome === null) return lanes.requeue(delivery)
  const { attempt, pauseMs } = outcome
  // Erased during the request: the response can repeat the payload.
  if (delivery.payload === null) attempt.answer = null
  const decision = decideRetry(delivery, attempt, { pauseMs, random: deps.random() })
  results.push({ delivery, attempt, decision })
  deps.slots.addUnwritten()
  updateHealth(queue, delivery, attempt, pauseMs)
  if (decision.next === 'gone' || hasFailedTooLong(queue.health, attempt.at)) queue.isEnding = true
  if (decision.next !== 'retry') lanes.complete(delivery)
}

interface RequestOutcome {
  attempt: DeliveryAttempt
  /** Pause that the receiver requested. */
  pauseMs: number | null
}

/** Returns null if the request was withheld because the lease ended. */
async function attemptDelivery(
  deps: DeliveryLoopDeps,
  queue: Queue,
  delivery: Delivery,
): Promise<RequestOutcome | null> {
  const { endpoint } = queue
  const masked = endpoint.phoneVisibility === 'masked' || (delivery.attempts > 0 && delivery.masked)
  const now = deps.clock.now()
  const failed = (error: string): RequestOutcome => ({
    attempt: { at: now, ms: 0, status: null, error, answer: null, masked },
    pauseMs: null,
  })
  const { payload } = delivery
  if (payload === null) return failed(expiredError)
  try {
    const body = await deps.step('render', () =>
      deps.keyStore.withKeyring(endpoint.workspaceId, (keyring) =>
        renderPayload(keyring, { ...delivery, payload }, masked, deps.present),
      ),
    )
    return await post(deps, queue, delivery, { body, masked })
  } catch (error) {
    const { eventId } = delivery
    deps.log.error('failed to build a webhook payload', { endpointId: endpoint.id, eventId }, error)
    return failed(internalError)
  }
}

async function post(
  deps: DeliveryLoopDeps,
  queue: Queue,
  delivery: Delivery,
  { body, masked }: { body: string; masked: boolean },
): Promise<RequestOutcome | null> {
  const { clock } = deps
  const { settings } = queue.endpoint
  const now = clock.now()
  const timestamp = Math.floor(now.getTime() / 1000)
  const request: OutgoingRequest = {
    method: 'POST',
    url: settings.url,
    headers: {
      ...settings.headers,
      ...headersOf(delivery),
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signatures(settings.secrets, { id: delivery.eventId, timestamp, body }, now),
    },
    body,
    timeoutMs,
    maxAnswerBytes,
    shouldSend: () => isLeaseValid(queue),
    canRepeat: true,
    propagatesTrace: true,
  }
  const answer = await deps.step('post', () => callTraced(deps, queue, delivery, request))
  const at = clock.now()
  const { ms } = answer
  if (answer.outcome === 'answered') {
    const { status } = answer
    const pauseMs = slowDownStatuses.includes(status) ? retryAfterMs(answer.headers['retry-after'], at) : null
    const first = answer.body.length > 0 ? answer.body : null
    return { attempt: { at, ms, status, error: null, answer: first, masked }, pauseMs }
  }
  if (answer.error === 'withheld') return null
  return { attempt: { at, ms, status: null, error: answer.error, answer: null, masked }, pauseMs: null }
}

/** Sends the request, in the trace of the change behind the event. */
async function callTraced(
  { outgoing, tracer }: DeliveryLoopDeps,
  { endpoint }: Queue,
  { trace, name, eventId, attempts }: Delivery,
  request: OutgoingRequest,
): Promise<OutgoingAnswer> {
  if (tracer === undefined) return outgoing.call(request)
  const fields = {
    'parley.workspace_id': endpoint.workspaceId,
    'parley.endpoint_id': endpoint.id,
    'parley.event': name,
    'parley.event_id': eventId,
    'parley.attempt': attempts + 1,
  }
  const span = tracer.begin('producer', `webhook ${name}`, fields, unpackTraceparent(trace))
  return inSpan(span, () => outgoing.call(request))
}

function updateHealth(queue: Queue, delivery: Delivery, attempt: DeliveryAttempt, pauseMs: number | null): void {
  const isSuccess = attempt.status !== null && attempt.status >= 200 && attempt.status < 300
  if (isSuccess) queue.health = afterSuccess(queue.health, attempt.at)
  else if (isReceiverFault(delivery, attempt)) queue.health = afterFailure(queue.health, attempt.at, pauseMs)
}
