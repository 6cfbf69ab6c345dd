import { type Static, type TSchema, Type } from 'typebox'
import { oneOf, timestamp } from '../base/route.ts'
import { page } from '../base/schema-types.ts'
import { allEventNames, type EventName } from './catalogue.ts'

export const FeedQuery = Type.Object(
  {
    after: Type.Optional(
      Type.String({
        maxLength: 1000,
        description:
          'The `next_cursor` of the answer before. Absent: from the oldest event that is kept. `latest`: only what comes from now on. A cursor belongs to its workspace and to no filter: `events` may change between two calls, and another key may go on with it.',
      }),
    ),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100, default: 50, description: 'Events an answer, at most 100.' }),
    ),
    wait: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 30,
        default: 0,
        description:
          'Seconds to wait for an event when there is none: the answer comes with the first one, or empty when the time is over. A key may have 10 such requests at once.',
        example: 25,
      }),
    ),
    events: Type.Optional(
      Type.String({
        maxLength: 500,
        description: 'Only these, separated by commas: names, or `lead.*` and `inbox.*`.',
        example: 'lead.created,inbox.*',
      }),
    ),
  },
  { additionalProperties: false },
)
export type FeedQuery = Static<typeof FeedQuery>

/** The bodies are described by the rooms that record them. */
export type PayloadSchemas = Record<EventName, TSchema>

export function feedPage(payloads: PayloadSchemas) {
  const Event = Type.Object(
    {
      id: Type.String({
        format: 'uuid',
        maxLength: 36,
        description: 'The event: the same as the `webhook-id` of its deliveries. Act on each id once.',
      }),
      event: oneOf(allEventNames, { description: 'Its name.', example: 'lead.created' }),
      occurred_at: timestamp('When it happened here.'),
      payload: Type.Unsafe<object>({
        anyOf: [...new Set(Object.values(payloads))],
        description: 'By the name of the event. Phones are masked for keys that see them so.',
      }),
    },
    { title: 'Event' },
  )
  return Type.Object({
    events: Type.Array(Event, { ...page, description: 'The oldest first.' }),
    next_cursor: Type.String({
      maxLength: 1000,
      description:
        'Always there, also when nothing came. Store it once the events are dealt with, and send it as `after`.',
    }),
    has_more: Type.Boolean({
      description: 'There is more at once. With a filter, an answer without events may say so too.',
    }),
  })
}
