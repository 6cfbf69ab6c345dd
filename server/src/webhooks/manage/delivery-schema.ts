import { Type } from 'typebox'
import { nullable, oneOf, timestamp, titled } from '../../base/route.ts'
import { count, cursor, page, text, unpaged, wholeNumber } from '../../base/schema-types.ts'
import { closed, idSchema } from '../../team/team-schema.ts'
import { EndpointParams } from '../endpoint/schema.ts'
import { eventNames } from '../event-catalog.ts'
import { deliveryStates } from './deliveries.ts'

// Fits an event with a message of the largest size.
const maxBodyLength = 32 * 1024 * 1024

export const DeliveryParams = Type.Object({ ...EndpointParams.properties, eventId: idSchema('The event.') })

export const DeliveriesQuery = Type.Object(
  {
    state: Type.Optional(
      oneOf(deliveryStates, {
        title: 'DeliveryState',
        description:
          '`pending`: will be tried. `failed`: no more retries. `cancelled`: was pending when the endpoint was disabled.',
      }),
    ),
    event: Type.Optional(oneOf(eventNames, { title: 'EventName', description: 'Only events of this name.' })),
    about: Type.Optional(idSchema('Only this event, or events of this lead or conversation.')),
    answer: Type.Optional(
      Type.String({
        pattern: '^([1-5][0-9]{2}|[1-5]xx|none)$',
        maxLength: 4,
        description: 'Filter by the response of the last attempt: `500`, `5xx`, or `none` for no response.',
        example: '5xx',
      }),
    ),
    from: Type.Optional(timestamp('Only events that occurred at or after this time.')),
    to: Type.Optional(timestamp('Only events that occurred at or before this time.')),
    limit: Type.Integer({ minimum: 1, maximum: 100, default: 50, description: 'Deliveries per page.', example: 50 }),
    cursor: Type.Optional(cursor('`nextCursor` of the previous page.')),
  },
  closed,
)

const status = nullable(
  Type.Integer({
    minimum: 100,
    maximum: 999,
    description: 'HTTP status; null if there was no response.',
    example: 200,
  }),
)
const error = nullable(
  Type.String({
    maxLength: 50,
    description:
      'Reason for no response: `invalid_address`, `forbidden_address`, `invalid_request`, `dns`, `connect`, `tls`, `timeout`, `reset`, `answer`, `withheld`, `internal` or `expired`.',
    example: null,
  }),
)
const ms = wholeNumber('Duration in milliseconds.', { example: 84 })
const at = timestamp('Start time.')
const explanation = nullable(text(1000, 'What happened, in one sentence; null for success.'))

const delivery = {
  eventId: idSchema('The event; equals the `webhook-id` of each attempt.'),
  event: oneOf(eventNames, { title: 'EventName', example: 'lead.created' }),
  subjectId: idSchema('The lead or conversation.'),
  occurredAt: timestamp('Time of the event.'),
  state: oneOf(deliveryStates, { title: 'DeliveryState', example: 'delivered' }),
  attempts: count('Number of attempts.', { example: 1 }),
  nextAttemptAt: nullable(timestamp('Earliest time of the next attempt; null if there will be none.')),
}

const DeliveryItem = titled('WebhookDelivery', {
  ...delivery,
  lastAttempt: nullable(Type.Object({ at, status, ms, error, explanation })),
})

export const DeliveryList = Type.Object({
  deliveries: Type.Array(DeliveryItem, page),
  nextCursor: nullable(
    cursor(
      'For the next page; null at the end. With a selective filter, a page can be short or empty: continue while there is a cursor.',
    ),
  ),
})

const Attempt = Type.Object({
  number: count('Number of the attempt, from 1.', { example: 1 }),
  at,
  status,
  ms,
  error,
  explanation,
  answer: nullable(text(10_000, 'First bytes of the response body, as text.', { example: '{"ok":true}' })),
})

export const DeliveryDetail = Type.Object({
  delivery: Type.Object({
    ...delivery,
    attemptList: Type.Array(Attempt, { ...unpaged, description: 'All attempts, oldest first.' }),
    request: Type.Object({
      headers: Type.Record(Type.String(), Type.String({ maxLength: 10_000 }), {
        description: 'Without timestamp and signature, which differ per attempt. Values of custom headers are hidden.',
      }),
      body: text(maxBodyLength, 'Body as sent; phones are masked if the endpoint masks them.'),
    }),
  }),
})

export const TestRequest = Type.Object(
  { event: oneOf(eventNames, { title: 'EventName', description: 'Event to simulate.', example: 'lead.created' }) },
  closed,
)
export const QueuedDelivery = Type.Object({
  delivery: titled('QueuedDelivery', {
    endpointId: idSchema('The endpoint.'),
    eventId: idSchema('The event; read its delivery for the result.'),
  }),
})

const scope = oneOf(['undelivered', 'all'], {
  title: 'ReplayScope',
  description: '`undelivered`: without events that were delivered.',
  example: 'undelivered',
})
const from = timestamp('Start of the range; within the last 30 days.')
export const NewReplay = Type.Object(
  { from, to: Type.Optional(timestamp('End of the range. Default: now.')), scope },
  closed,
)
export const Replay = titled('WebhookReplay', {
  id: idSchema('The replay.'),
  from,
  to: timestamp('End of the range.'),
  scope,
  queued: count('Events queued so far.', { example: 120 }),
  reachedAt: nullable(timestamp('Events up to this time are queued.')),
  createdAt: timestamp('Creation time.'),
  finishedAt: nullable(
    timestamp('Time when all events were queued or the endpoint was disabled. Null while it is open.'),
  ),
})

export const StatsQuery = Type.Object(
  {
    hours: Type.Integer({
      minimum: 24,
      maximum: 720,
      default: 24,
      description: 'Hours to look back. Buckets are hours up to 72 hours, else UTC days.',
      example: 24,
    }),
  },
  closed,
)
const measure = (description: string) => nullable(wholeNumber(description, { example: 84 }))
export const Stats = Type.Object({
  unit: oneOf(['hour', 'day'], { description: 'Length of a bucket.' }),
  sampledEvery: Type.Integer({
    minimum: 1,
    maximum: 2_147_483_647,
    description: 'In a busy feed, only one random event in this many is read, and counts are extrapolated. 1: exact.',
    example: 1,
  }),
  buckets: Type.Array(
    Type.Object({
      start: timestamp('Start of the bucket. Events belong to the bucket in which they occurred.'),
      delivered: count('Delivered events.', { example: 240 }),
      failedAttempts: count('Failed attempts.', { example: 3 }),
      msP50: measure('Median duration of successful requests, in milliseconds.'),
      msP95: measure('95th percentile of it.'),
      delayMsP50: measure('Median time from event to delivery, in milliseconds.'),
      delayMsP95: measure('95th percentile of it.'),
    }),
    { maxItems: 100, description: 'Oldest first, including hours or days without events.' },
  ),
})

export const Catalog = Type.Object({
  events: Type.Array(
    Type.Object({
      name: oneOf(eventNames, { title: 'EventName', example: 'lead.created' }),
      fires: text(1000, 'When it fires, and what its body contains.'),
      sample: Type.Unsafe<object>({ type: 'object', additionalProperties: true, description: 'Sample body.' }),
    }),
    { maxItems: eventNames.length },
  ),
})
