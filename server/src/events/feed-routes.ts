import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import { type TSchema, Type } from 'typebox'
import { type Caller, callerOf, readableAreas } from '../auth/api-keys/caller.ts'
import type { KeyStore } from '../base/encryption/key-store.ts'
import { invalid } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import { type App, errors, timestamp, titled } from '../base/route.ts'
import { cursor, page, uuid } from '../base/schema-types.ts'
import { optInEventNames } from '../workspaces/opt-in-events.ts'
import {
  decryptEach,
  type EventCatalog,
  needsPresenting,
  type PresentedEvent,
  type PresentPayload,
  parsePayload,
  presentEvent,
} from './feed.ts'
import type { LongPolls } from './long-poll.ts'
import { type FeedPage, type FeedStart, parseFeedCursor, writeFeedCursor } from './read-page.ts'
import { areaOf, type EventName, groupNames, isOptIn, matchEventNames } from './record.ts'

interface FeedRouteDeps {
  keyStore: KeyStore
  log: Log
  longPolls: LongPolls
  present: PresentPayload
  catalog: EventCatalog
}

interface FeedGuard {
  events(): onRequestAsyncHookHandler
  stillReads(request: FastifyRequest, reply: FastifyReply): Promise<void>
}

export function feedRoutes(app: App, deps: FeedRouteDeps, guard: FeedGuard): void {
  const allNames = Object.keys(deps.catalog) as EventName[]
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
          'Events in order. Needs scope `leads.read` for events named `lead.…` or `inbox.read` for the others. Events of connections outside the key’s list are left out. Some events are returned only if `events` names them. Has the rate limit of the inbox API, counted separately.',
        querystring: FeedQuery,
        response: { 200: feedPage(deps.catalog), ...errors(400, 401, 403, 410, 429, 500, 503) },
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
      // Checks access again, because it can change during the wait.
      if (page.hasWaited) await guard.stillReads(request, reply)
      const events = await presentEvents(deps, request, page)
      // Nothing below can fail: errors must not use this serializer.
      reply.type('application/json; charset=utf-8').serializer(writeFeedResponse)
      return { events, next_cursor: writeFeedCursor(workspaceId, page.position), has_more: page.hasMore }
    },
  )
}

function parseStart(workspaceId: string, after: string | undefined): FeedStart {
  if (after === undefined) return 'oldest'
  if (after === 'latest') return 'latest'
  const position = parseFeedCursor(workspaceId, after)
  if (position === null) throw invalid('after', 'must be a next_cursor of this workspace, or latest', 'query')
  return position
}

function namesFor(allNames: readonly EventName[], caller: Caller, requested: string | undefined): EventName[] {
  const areas = readableAreas(caller)
  const readable = allNames.filter((name) => areas.includes(areaOf(name)))
  if (requested === undefined) return readable.filter((name) => !isOptIn(name))
  const requestedNames = requested.split(',').map((name) => name.trim())
  const known: readonly string[] = [...allNames, ...groupNames]
  if (!requestedNames.every((name) => known.includes(name))) {
    throw invalid(
      'events',
      `must be a list of event names, ${groupNames.join(' or ')}: ${allNames.join(', ')}`,
      'query',
    )
  }
  return matchEventNames(readable, requestedNames)
}

async function presentEvents({ keyStore, present, log }: FeedRouteDeps, request: FastifyRequest, page: FeedPage) {
  const { workspaceId, phoneVisibility } = callerOf(request)
  const masked = phoneVisibility !== 'full'
  const read = (json: string) => (masked || needsPresenting(json) ? parsePayload(json) : new RecordedPayload(json))
  return keyStore.withKeyring(workspaceId, (keyring) =>
    decryptEach(keyring, page, log, read).map(({ event, payload }) =>
      presentEvent({
        event,
        payload: payload instanceof RecordedPayload ? payload : present(event.name, payload, { keyring, masked }),
      }),
    ),
  )
}

/** A payload that is sent as recorded, without parsing and serializing its JSON. */
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

/** Serializes the response; inserts recorded payloads unchanged. */
function writeFeedResponse({ events, ...rest }: FeedResponse): string {
  const tail = JSON.stringify(rest).slice(1)
  return `{"events":[${events.map(writeEvent).join()}],${tail}`
}

// Ids, event names and times need no JSON escaping.
function writeEvent({ id, event, occurred_at, payload }: PresentedEvent): string {
  const json = payload instanceof RecordedPayload ? payload.json : JSON.stringify(payload)
  return `{"id":"${id}","event":"${event}","occurred_at":"${occurred_at}","payload":${json}}`
}

const FeedQuery = Type.Object(
  {
    after: Type.Optional(
      cursor(
        '`next_cursor` of the previous response. Omitted: start at the oldest kept event. `latest`: only new events. A cursor belongs to the workspace, not to a filter or key: `events` and the key can change between calls.',
      ),
    ),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100, default: 50, description: 'Maximum number of events, up to 100.' }),
    ),
    wait: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 30,
        default: 0,
        description:
          'Seconds to wait for an event if there is none: returns with the first one, or empty on timeout. Each key can have 10 waiting requests.',
        example: 25,
      }),
    ),
    events: Type.Optional(
      Type.String({
        maxLength: 1000,
        description: `Comma-separated filter: event names, \`lead.*\` or \`inbox.*\`. Only events that are named here, and that the workspace records: ${optInEventNames.join(', ')}.`,
        example: 'lead.created,inbox.*',
      }),
    ),
  },
  { additionalProperties: false },
)

function feedPage(catalog: EventCatalog) {
  const Event = Type.Unsafe<PresentedEvent>({
    title: 'Event',
    description: '`event` determines the shape of `payload`. Phone numbers are masked if the key masks them.',
    oneOf: Object.entries(catalog).map(([name, { schema }]) => eventOf(name, schema)),
    discriminator: { propertyName: 'event' },
  })
  return Type.Object({
    events: Type.Array(Event, { ...page, description: 'Oldest first.' }),
    next_cursor: cursor(
      'Always present, even without events. Store it after you have processed the events, and send it as `after`.',
    ),
    has_more: Type.Boolean({
      description: 'More events are available now. With a filter, it can be true without events.',
    }),
  })
}

/** Builds the schema of an event, such as `InboxMessageSent` for `inbox.message.sent`. */
function eventOf(name: string, payload: TSchema) {
  const title = name
    .split(/[._]/)
    .map((word) => `${word[0]?.toUpperCase()}${word.slice(1)}`)
    .join('')
  return titled(title, {
    id: uuid('The event; equals the `webhook-id` of its deliveries. Process each id once.'),
    event: Type.Literal(name),
    occurred_at: timestamp('Time when it was recorded.'),
    payload,
  })
}
