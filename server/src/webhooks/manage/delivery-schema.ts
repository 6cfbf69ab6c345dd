import { Type } from 'typebox'
import { nullable, oneOf, timestamp, titled } from '../../base/route.ts'
import { count, page, text, unpaged, wholeNumber } from '../../base/schema-types.ts'
import { closed, idSchema } from '../../team/team-schema.ts'
import { EndpointParams } from '../endpoint/schema.ts'
import { eventNames } from '../event-catalogue.ts'
import { deliveryStates } from './deliveries.ts'

// A message that has been told of, and what is around it.
const maxBodyLength = 32 * 1024 * 1024

export const DeliveryParams = Type.Object({ ...EndpointParams.properties, eventId: idSchema('The event.') })

export const DeliveriesQuery = Type.Object(
  {
    state: Type.Optional(
      oneOf(deliveryStates, {
        title: 'DeliveryState',
        description:
          '`pending` is still to be tried, `failed` is given up, `cancelled` waited when the endpoint was disabled.',
      }),
    ),
    event: Type.Optional(oneOf(eventNames, { title: 'EventName', description: 'Only events of this name.' })),
    about: Type.Optional(idSchema('Only this event, or those about this lead or conversation.')),
    answer: Type.Optional(
      Type.String({
        pattern: '^([1-5][0-9]{2}|[1-5]xx|none)$',
        maxLength: 4,
        description: 'Only where the last attempt was answered so: `500`, `5xx`, or `none` where no answer came.',
        example: '5xx',
      }),
    ),
    from: Type.Optional(timestamp('Only events that occurred then or later.')),
    to: Type.Optional(timestamp('Only events that occurred then or earlier.')),
    limit: Type.Integer({ minimum: 1, maximum: 100, default: 50, description: 'Deliveries a page.', example: 50 }),
    cursor: Type.Optional(Type.String({ maxLength: 1000, description: '`nextCursor` of the page before.' })),
  },
  closed,
)

const status = nullable(
  Type.Integer({ minimum: 100, maximum: 999, description: 'The HTTP status; null when no answer came.', example: 200 }),
)
const error = nullable(
  Type.String({
    maxLength: 50,
    description:
      'Why no answer came: `invalid_address`, `forbidden_address`, `invalid_request`, `dns`, `connect`, `tls`, `timeout`, `reset`, `answer`, `withheld`, `internal` or `expired`.',
    example: null,
  }),
)
const ms = wholeNumber('Milliseconds until it ended.', { example: 84 })
const at = timestamp('When it began.')
const explanation = nullable(text(1000, 'What happened, in a sentence; null when it was taken.'))

const delivery = {
  eventId: idSchema('The event: the `webhook-id` of each attempt.'),
  event: oneOf(eventNames, { title: 'EventName', example: 'lead.created' }),
  subjectId: idSchema('The lead or conversation that it is about.'),
  occurredAt: timestamp('When the event occurred.'),
  state: oneOf(deliveryStates, { title: 'DeliveryState', example: 'delivered' }),
  attempts: count('How often it was tried.', { example: 1 }),
  nextAttemptAt: nullable(timestamp('When it is tried next, at the earliest; null when it will not be.')),
}

export const DeliveryItem = Type.Object(
  {
    ...delivery,
    lastAttempt: nullable(Type.Object({ at, status, ms, error, explanation })),
  },
  { title: 'WebhookDelivery' },
)

export const DeliveryList = Type.Object({
  deliveries: Type.Array(DeliveryItem, page),
  nextCursor: nullable(
    Type.String({
      maxLength: 1000,
      description:
        'For the next page; null at the end. With a filter that fits little, a page may be short or empty: go on while there is a cursor.',
    }),
  ),
})

const Attempt = Type.Object({
  number: count('Counted from 1.', { example: 1 }),
  at,
  status,
  ms,
  error,
  explanation,
  answer: nullable(text(10_000, 'The first bytes of the answer, as text.', { example: '{"ok":true}' })),
})

export const DeliveryDetail = Type.Object({
  delivery: Type.Object({
    ...delivery,
    attemptList: Type.Array(Attempt, { ...unpaged, description: 'Every attempt, the oldest first.' }),
    request: Type.Object({
      headers: Type.Record(Type.String(), Type.String({ maxLength: 10_000 }), {
        description: 'Without the time and the signature, which each attempt has of its own; your own have no values.',
      }),
      body: text(maxBodyLength, 'As it is sent, with phones hidden where they are.'),
    }),
  }),
})

export const TestRequest = Type.Object(
  {
    event: oneOf(eventNames, { title: 'EventName', description: 'Which event to invent.', example: 'lead.created' }),
  },
  closed,
)
export const Queued = Type.Object({
  delivery: titled('QueuedDelivery', {
    endpointId: idSchema('The endpoint.'),
    eventId: idSchema('The event: read its delivery to see what came of it.'),
  }),
})

const scope = oneOf(['undelivered', 'all'], {
  title: 'ReplayScope',
  description: '`undelivered` leaves out what the endpoint has taken.',
  example: 'undelivered',
})
const from = timestamp('Events that occurred then or later; within the last 30 days.')
export const NewReplay = Type.Object(
  { from, to: Type.Optional(timestamp('Events that occurred until then; without it, until now.')), scope },
  closed,
)
export const Replay = Type.Object(
  {
    id: idSchema('The work.'),
    from,
    to: timestamp('Events that occurred until then.'),
    scope,
    queued: count('Events that it has queued so far.', { example: 120 }),
    reachedAt: nullable(timestamp('Events until then are queued.')),
    createdAt: timestamp('When it was asked for.'),
    finishedAt: nullable(timestamp('When all were queued, or the endpoint was disabled. Null while it is open.')),
  },
  { title: 'WebhookReplay' },
)

export const StatsQuery = Type.Object(
  {
    hours: Type.Integer({
      minimum: 24,
      maximum: 720,
      default: 24,
      description: 'How far back. Up to 72 there is a bucket for each hour, beyond that for each day in UTC.',
      example: 24,
    }),
  },
  closed,
)
const measure = (description: string) => nullable(wholeNumber(description, { example: 84 }))
export const Stats = Type.Object({
  unit: oneOf(['hour', 'day'], { description: 'The length of a bucket.' }),
  sampledEvery: Type.Integer({
    minimum: 1,
    maximum: 2_147_483_647,
    description:
      'Of a busy feed one event in so many is looked at, at random, and the counts are multiplied by it. 1 is exact.',
    example: 1,
  }),
  buckets: Type.Array(
    Type.Object({
      start: timestamp('Its beginning. Events belong to the bucket in which they occurred.'),
      delivered: count('Events that the endpoint has taken.', { example: 240 }),
      failedAttempts: count('Attempts for them that failed.', { example: 3 }),
      msP50: measure('Half of the requests that were taken took so many milliseconds at most.'),
      msP95: measure('19 in 20 of them did.'),
      delayMsP50: measure('Half of the events were delivered within so many milliseconds of occurring.'),
      delayMsP95: measure('19 in 20 of them were.'),
    }),
    { maxItems: 100, description: 'The oldest first; hours or days without events too.' },
  ),
})

export const Catalogue = Type.Object({
  events: Type.Array(
    Type.Object({
      name: oneOf(eventNames, { title: 'EventName', example: 'lead.created' }),
      fires: text(1000, 'When it fires, and what its body has.'),
      sample: Type.Unsafe<object>({ type: 'object', additionalProperties: true, description: 'A body as it is sent.' }),
    }),
    { maxItems: eventNames.length },
  ),
})
