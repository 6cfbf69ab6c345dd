import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import { readableFaces } from '../access/keys/admission.ts'
import { type Caller, callerOf } from '../access/keys/caller.ts'
import { invalid } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import { type App, errors } from '../base/route.ts'
import type { Vault } from '../base/sealing/vault.ts'
import { isoTime } from '../base/time.ts'
import { type EventName, faceOf, groupNames, namesAskedFor } from './event-groups.ts'
import type { EventCatalogue } from './event-kind.ts'
import { openEach, openEvents, type PlacedEvent, type PresentPayload } from './feed.ts'
import { readFeedCursor, writeFeedCursor } from './feed-cursor.ts'
import { type EventAnswer, FeedQuery, feedPage } from './feed-schema.ts'
import type { LongPolls } from './long-poll.ts'
import type { FeedPage, Start } from './read-page.ts'

export interface FeedRouteDeps {
  vault: Vault
  log: Log
  waits: LongPolls
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
      const page = await deps.waits.page({
        reader: { workspaceId, connectionIds, names: namesFor(allNames, caller, request.query.events) },
        start: readStart(workspaceId, request.query.after),
        limit,
        waitMs: wait * 1000,
        keyId,
        connection: reply.raw,
      })
      // Time has passed: what was right to ask then need not be right to answer now.
      if (page.hasWaited) await guard.stillReads(request, reply)
      const events = await showEvents(deps, request, page)
      // From here on nothing fails: an error is not to be written so.
      reply.type('application/json; charset=utf-8').serializer(writeFeedAnswer)
      return { events, next_cursor: writeFeedCursor(workspaceId, page.position), has_more: page.hasMore }
    },
  )
}

function readStart(workspaceId: string, after: string | undefined): Start {
  if (after === undefined) return 'oldest'
  if (after === 'latest') return 'latest'
  const position = readFeedCursor(workspaceId, after)
  if (position === null)
    throw invalid('after', 'is no cursor of this workspace: send a next_cursor, or latest', 'query')
  return position
}

function namesFor(allNames: readonly EventName[], caller: Caller, wanted: string | undefined): EventName[] {
  const faces = readableFaces(caller)
  const readable = allNames.filter((name) => faces.includes(faceOf(name)))
  if (wanted === undefined) return readable
  const asked = wanted.split(',').map((name) => name.trim())
  const known: readonly string[] = [...allNames, ...groupNames]
  if (!asked.every((name) => known.includes(name))) {
    throw invalid('events', `must list names of events, ${groupNames.join(' or ')}: ${allNames.join(', ')}`, 'query')
  }
  return namesAskedFor(readable, asked)
}

async function showEvents({ vault, present, log }: FeedRouteDeps, request: FastifyRequest, page: FeedPage) {
  const { workspaceId, phoneVisibility } = callerOf(request)
  return vault.withKeyring(workspaceId, (keyring) => {
    if (phoneVisibility === 'full') {
      return openEach(keyring, page, log, (json) => new RecordedPayload(json)).map(presentEvent)
    }
    return openEvents(keyring, page, log).map(({ event, payload }) =>
      presentEvent({ event, payload: present(event.name, payload, { keyring, masked: true }) }),
    )
  })
}

const presentEvent = ({ event, payload }: { event: PlacedEvent; payload: object }) => ({
  id: event.id,
  event: event.name,
  occurred_at: isoTime(event.occurredAt),
  payload,
})

/** A payload that goes out as it was recorded, which is as JSON: it is not read only to be written again. */
class RecordedPayload {
  readonly json: string

  constructor(json: string) {
    this.json = json
  }
}

interface FeedAnswer {
  events: EventAnswer[]
  next_cursor: string
  has_more: boolean
}

/** The answer as JSON, with recorded payloads as they are. */
function writeFeedAnswer({ events, ...rest }: FeedAnswer): string {
  const tail = JSON.stringify(rest).slice(1)
  return `{"events":[${events.map(writeEvent).join()}],${tail}`
}

// Nothing is to be escaped in an id, a name of ours or a time.
function writeEvent({ id, event, occurred_at, payload }: EventAnswer): string {
  const json = payload instanceof RecordedPayload ? payload.json : JSON.stringify(payload)
  return `{"id":"${id}","event":"${event}","occurred_at":"${occurred_at}","payload":${json}}`
}
