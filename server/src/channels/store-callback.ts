import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyError, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Clock } from '../base/clock.ts'
import { type Db, idempotent } from '../base/db.ts'
import type { KeyStore } from '../base/encryption/key-store.ts'
import { ApiError, notFound, unauthorized, unavailable } from '../base/errors.ts'
import { isUuid } from '../base/id.ts'
import type { Log } from '../base/log.ts'
import { type App, errors } from '../base/route.ts'
import { setWorkspace } from '../base/scheduling/work-context.ts'
import type { CallbackConnectionCache } from './callback-connections.ts'
import type { ChannelEvent, DeliveredEvent, ParsedCallback, ReceiveEvents } from './channel-event.ts'
import type { Channel, StoredConnection } from './connection/connection.ts'
import { updateColumns } from './connection/update-columns.ts'
import { isActivityDue, measureLag, storeActivity } from './health/activity.ts'

export interface CallbackDeps {
  db: Db
  keyStore: KeyStore
  clock: Clock
  log: Log
  receive: ReceiveEvents
  connections: CallbackConnectionCache
}

export interface RoutedEvents {
  /** Events per connection, in the platform's order. */
  deliveries: Map<StoredConnection, ChannelEvent[]>
  /** Number of items for numbers or accounts without a connection. */
  unroutedCount: number
}

const retryAfterSeconds = 5

/** Parses a callback with the channel's parser; a body that is not JSON has no items. */
function parseCallbackBody(
  body: Buffer,
  now: Date,
  parse: (payload: unknown, now: Date) => ParsedCallback,
): ParsedCallback {
  try {
    return parse(JSON.parse(body.toString('utf8')), now)
  } catch {
    return { items: [], skipped: ['not JSON'] }
  }
}

/** Stores received events. Resolves once committed; throws 503 otherwise, so that the platform retries. */
export async function storeReceived(
  deps: CallbackDeps,
  { workspaceId, id: connectionId }: StoredConnection,
  deliveries: RoutedEvents['deliveries'],
): Promise<void> {
  try {
    for (const [connection, events] of deliveries) await deps.receive(connection, events)
    await storeIncomingActivity(deps, deliveries)
    await storeOnPhone(deps, deliveries)
  } catch (error) {
    deps.log.warn('failed to store callback; the platform will retry', { workspaceId, connectionId }, error)
    throw unavailable('Callback could not be stored. Try again.', undefined, retryAfterSeconds)
  }
}

// Logs only reasons, each once: they are our own words and contain no payload values.
function logSkipped(
  deps: CallbackDeps,
  called: StoredConnection,
  { skipped }: ParsedCallback,
  { unroutedCount }: RoutedEvents,
): void {
  const fields = { workspaceId: called.workspaceId, connectionId: called.id }
  if (unroutedCount > 0)
    deps.log.warn('ignored callback for a number that is not connected', { ...fields, count: unroutedCount })
  for (const reason of new Set(skipped)) {
    const count = skipped.filter((one) => one === reason).length
    deps.log.info('ignored callback item', { ...fields, code: reason, count })
  }
}

async function storeIncomingActivity(
  { db, clock }: CallbackDeps,
  deliveries: RoutedEvents['deliveries'],
): Promise<void> {
  const now = clock.now()
  const due = [...deliveries].filter(([one]) => isActivityDue(one.lastEventInAt, now))
  if (due.length === 0) return
  await db.tx(async (tx) => {
    for (const [one, events] of due) await storeActivity(tx, one, 'in', now, measureLag(events, now))
  }, idempotent)
  // The cached connections serve later callbacks.
  for (const [one] of due) one.lastEventInAt = now
}

// An echo shows that a phone uses the number, whatever the platform reported when it was connected.
async function storeOnPhone({ db }: CallbackDeps, deliveries: RoutedEvents['deliveries']): Promise<void> {
  for (const [connection, events] of deliveries) {
    if (connection.isOnPhone || !events.some((event) => event.type === 'echo' && !event.isStandby)) continue
    await db.tx((tx) => updateColumns(tx, connection, tx`is_on_phone = true`), idempotent)
    connection.isOnPhone = true
  }
}

// The platform's limit.
const maxBodyBytes = 3 * 1024 * 1024

/** Schema options shared by all callback routes. */
export const callbackRoute = { tags: ['Channels'], security: [] }
export const callbackParams = Type.Object({
  connectionId: Type.String({ maxLength: 255, description: 'The connection that receives the callback.' }),
})

/** Registers callback routes, whose signature covers the raw bytes. */
export const registerCallbackScope = (app: App, routes: (scope: App) => void): void =>
  registerRawScope(app, maxBodyBytes, 'Body is larger than 3 MiB', routes)

/** Registers routes in a separate scope: only they accept raw bytes, whatever content type is declared. */
export function registerRawScope(app: App, bodyLimit: number, tooLarge: string, routes: (scope: App) => void): void {
  app.register(async (scope: App) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit }, (_request, body, done) => done(null, body))
    scope.setErrorHandler((error: FastifyError) => {
      if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') throw new ApiError(413, tooLarge)
      throw error
    })
    routes(scope)
  })
}

/** The connection in the URL, and all connections of its workspace and channel: they may share a callback URL. */
export interface CalledConnections<C extends Channel> {
  called: Extract<StoredConnection, { channel: C }>
  all: Extract<StoredConnection, { channel: C }>[]
}

/**
 * Finds the connections that a callback is for. Throws 404 if the URL names no connection of the channel. By default
 * returns only connections whose platform has confirmed their number.
 */
export async function findCalledConnections<C extends Channel>(
  deps: CallbackDeps,
  { params }: FastifyRequest,
  channel: C,
  which: 'all' | 'reserved' = 'reserved',
): Promise<CalledConnections<C>> {
  const id = (params as { connectionId: string }).connectionId.toLowerCase()
  const found = isUuid(id) ? await deps.connections.find(channel, id) : []
  const allowed = which === 'all' ? found : found.filter(({ isReserved }) => isReserved)
  // The lookup was by channel.
  const all = allowed.map(({ connection }) => connection) as CalledConnections<C>['all']
  const called = all.find((one) => one.id === id)
  if (called === undefined) throw notFound('Connection not found')
  setWorkspace(called.workspaceId)
  return { called, all }
}

/** Authentication, parsing and routing of a channel's callbacks. `P`: the proof in a request. */
interface CallbackHandler<C extends Channel, P> {
  channel: C
  documentation: { operationId: string; summary: string; description: string }
  proofName: string
  unauthorizedMessage: string
  /** Returns null if the request has no usable proof. */
  parseProof(headers: IncomingHttpHeaders): P | null
  isAuthentic(called: CalledConnections<C>['called'], proof: P, body: Buffer): boolean
  parseCallback(payload: unknown, now: Date): ParsedCallback
  route(connections: CalledConnections<C>, items: readonly DeliveredEvent[]): RoutedEvents
}

/** Registers the callback route of a channel: 200 means that the whole callback is stored. */
export function registerCallbackRoute<C extends Channel, P>(
  scope: App,
  deps: CallbackDeps,
  one: CallbackHandler<C, P>,
): void {
  const rejection = () => unauthorized(one.unauthorizedMessage)
  const options = {
    // Before the body is read, so that a request without proof cannot occupy 3 MB of memory.
    onRequest: async ({ headers }: FastifyRequest) => {
      if (one.parseProof(headers) === null) throw rejection()
    },
    schema: {
      ...callbackRoute,
      ...one.documentation,
      params: callbackParams,
      response: {
        200: Type.Object({ success: Type.Boolean() }, { description: 'Stored, or nothing to store.' }),
        ...errors(400, 401, 404, 413, 503),
      },
    },
  }
  scope.post(`/channels/${one.channel}/:connectionId/webhook`, options, async (request) => {
    const connections = await findCalledConnections(deps, request, one.channel)
    const { called } = connections
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
    const proof = one.parseProof(request.headers)
    if (proof === null || !one.isAuthentic(called, proof, body)) {
      const fields = { workspaceId: called.workspaceId, connectionId: called.id }
      deps.log.warn(`rejected callback: invalid ${one.proofName}`, fields)
      throw rejection()
    }
    const parsed = parseCallbackBody(body, deps.clock.now(), one.parseCallback)
    const routed = one.route(connections, parsed.items)
    logSkipped(deps, called, parsed, routed)
    await storeReceived(deps, called, routed.deliveries)
    return { success: true }
  })
}
