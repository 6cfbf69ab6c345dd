import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import { type TSchema, Type } from 'typebox'
import { type Caller, callerOf, readableAreas } from '../auth/api-keys/caller.ts'
import type { KeyStore } from '../base/encryption/key-store.ts'
import { invalid } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import { type App, errors, timestamp, titled } from '../base/route.ts'
import { page, uuid } from '../base/schema-types.ts'
import {
  decryptEach,
  decryptEvents,
  type EventCatalogue,
  needsPresenting,
  type PresentedEvent,
  type PresentPayload,
  presentEvent,
} from './feed.ts'
import type { LongPolls } from './long-poll.ts'
import { type FeedPage, type FeedStart, parseFeedCursor, writeFeedCursor } from './read-page.ts'
import { areaOf, type EventName, groupNames, matchEventNames } from './record.ts'

export interface FeedRouteDeps {
  keyStore: KeyStore
  log: Log
  longPolls: LongPolls
  present: PresentPayload
  catalogue: EventCatalogue
}

interface FeedGuard {
  events(): onRequestAsyncHookHandler
  stillReads(request: FastifyRequest, reply: FastifyReply): Promise<void>
}

export function feedRoutes(app: App, deps: FeedRouteDeps, guard: FeedGuard): void {
  const allNames = Object.keys(deps.catalogue) as EventName[]
  app.get(
    '/api/v1/events',
    {
      onRequest: guard.events(),
      schema: {
        tags: ['Events'],
        security: [{ apiKey: [] }],
        operationId: 'listEvents',
        summary: 'Read events',
        description:
          'What has happened, in order. Scope `leads.read` shows `lead.*`, `inbox.read` shows `inbox.*`; one of them is needed. Events of connections outside the list of the key are not shown. As many requests a minute as on the inbox interface, counted by themselves.',
        querystring: FeedQuery,
        response: { 200: feedPage(deps.catalogue), ...errors(400, 401, 403, 410, 429, 500, 503) },
      },
    },
    async (request, reply) => {
      const caller = callerOf(request)
      const { workspaceId, connectionIds, keyId } = caller
      const { limit = 50, wait = 0 } = request.query
      const page = await deps.longPolls.page({
        reader: { workspaceId, connectionIds, names: namesFor(allNames, caller, request.query.events) },
        start: parseStart(workspaceId, request.query.after),
        limit,
        waitMs: wait * 1000,
        keyId,
        connection: reply.raw,
      })
      // Time has passed: what was right to ask then need not be right to answer now.
      if (page.hasWaited) await guard.stillReads(request, reply)
      const events = await presentEvents(deps, request, page)
      // From here on nothing fails: an error is not to be written so.
      reply.type('application/json; charset=utf-8').serializer(writeFeedResponse)
      return { events, next_cursor: writeFeedCursor(workspaceId, page.position), has_more: page.hasMore }
    },
  )
}

function parseStart(workspaceId: string, after: string | undefined): FeedStart {
  if (after === undefined) return 'oldest'
  if (after === 'latest') return 'latest'
  const position = parseFeedCursor(workspaceId, after)
  if (position === null)
    throw invalid('after', 'is no cursor of this workspace: send a next_cursor, or latest', 'query')
  return position
}

function namesFor(allNames: readonly EventName[], caller: Caller, requested: string | undefined): EventName[] {
  const faces = readableAreas(caller)
  const readable = allNames.filter((name) => faces.includes(areaOf(name)))
  if (requested === undefined) return readable
  const requestedNames = requested.split(',').map((name) => name.trim())
  const known: readonly string[] = [...allNames, ...groupNames]
  if (!requestedNames.every((name) => known.includes(name))) {
    throw invalid('events', `must list names of events, ${groupNames.join(' or ')}: ${allNames.join(', ')}`, 'query')
  }
  return matchEventNames(readable, requestedNames)
}

async function presentEvents({ keyStore, present, log }: FeedRouteDeps, request: FastifyRequest, page: FeedPage) {
  const { workspaceId, phoneVisibility } = callerOf(request)
  return keyStore.withKeyring(workspaceId, (keyring) => {
    if (phoneVisibility === 'full') {
      return decryptEach(keyring, page, log, (json) => json).map(({ event, payload: json }) => {
        if (!needsPresenting(json)) return presentEvent({ event, payload: new RecordedPayload(json) })
        return presentEvent({ event, payload: present(event.name, JSON.parse(json), { keyring, masked: false }) })
      })
    }
    return decryptEvents(keyring, page, log).map(({ event, payload }) =>
      presentEvent({ event, payload: present(event.name, payload, { keyring, masked: true }) }),
    )
  })
}

/** A payload that goes out as it was recorded, which is as JSON: it is not read only to be written again. */
class RecordedPayload {
  readonly json: string

  constructor(json: string) {
    this.json = json
  }
}

interface FeedResponse {
  events: PresentedEvent[]
  next_cursor: string
  has_more: boolean
}

/** The answer as JSON, with recorded payloads as they are. */
function writeFeedResponse({ events, ...rest }: FeedResponse): string {
  const tail = JSON.stringify(rest).slice(1)
  return `{"events":[${events.map(writeEvent).join()}],${tail}`
}

// Nothing is to be escaped in an id, a name of ours or a time.
function writeEvent({ id, event, occurred_at, payload }: PresentedEvent): string {
  const json = payload instanceof RecordedPayload ? payload.json : JSON.stringify(payload)
  return `{"id":"${id}","event":"${event}","occurred_at":"${occurred_at}","payload":${json}}`
}

const FeedQuery = Type.Object(
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

function feedPage(catalogue: EventCatalogue) {
  const Event = Type.Unsafe<PresentedEvent>({
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
