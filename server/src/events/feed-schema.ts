import { type Static, type TSchema, Type } from 'typebox'
import { timestamp, titled } from '../base/route.ts'
import { page, uuid } from '../base/schema-types.ts'
import type { EventName } from './event-groups.ts'
import type { EventCatalogue } from './event-kind.ts'

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

export interface EventAnswer {
  id: string
  event: EventName
  occurred_at: string
  payload: object
}

export function feedPage(catalogue: EventCatalogue) {
  const Event = Type.Unsafe<EventAnswer>({
    title: 'Event',
    description: 'Its name says what its payload is. Phones are masked for keys that see them so.',
    oneOf: Object.entries(catalogue).map(([name, { schema }]) => eventOf(name, schema)),
    discriminator: { propertyName: 'event' },
  })
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

/** `inbox.message.sent` is the schema `InboxMessageSent`. */
function eventOf(name: string, payload: TSchema) {
  const title = name
    .split(/[._]/)
    .map((word) => `${word[0]?.toUpperCase()}${word.slice(1)}`)
    .join('')
  return titled(title, {
    id: uuid('The event: the same as the `webhook-id` of its deliveries. Act on each id once.'),
    event: Type.Literal(name),
    occurred_at: timestamp('When it happened here.'),
    payload,
  })
}
