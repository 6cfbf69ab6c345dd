import { createHmac, timingSafeEqual } from 'node:crypto'
import { Type } from 'typebox'
import { forbidden, unauthorized } from '../../base/errors.ts'
import { type App, errors } from '../../base/route.ts'
import { maxHeadBytes } from '../../base/schema-types.ts'
import { sameSecret } from '../../base/sealing/secret-token.ts'
import type { ChannelEvent, Delivered } from '../channel-event.ts'
import type { StoredConnection, StoredWaba } from '../connection/connection.ts'
import {
  bytesOf,
  type CallbackDeps,
  type Called,
  callbackParams,
  callbackRoute,
  callbackScope,
  calledConnections,
  type Routed,
  readCallback,
  storeCallback,
} from '../store-callback.ts'
import { parse } from './read/parse.ts'

const path = '/channels/waba/:connectionId/webhook'

// What the platform puts into its address, it gets back.
const told = { maxLength: maxHeadBytes }

/** What the official platform calls. */
export function wabaWebhookRoutes(app: App, deps: CallbackDeps): void {
  callbackScope(app, (scope) => {
    verificationRoute(scope, deps)
    receivingRoute(scope, deps)
  })
}

function verificationRoute(scope: App, deps: CallbackDeps): void {
  scope.get(
    path,
    {
      schema: {
        ...callbackRoute,
        operationId: 'verifyCallback',
        summary: 'Answer the handshake of the official platform',
        description: 'Answers the challenge when the token is the one of the connection.',
        params: callbackParams,
        querystring: Type.Object({
          'hub.mode': Type.Optional(Type.String(told)),
          'hub.challenge': Type.Optional(Type.String(told)),
          'hub.verify_token': Type.Optional(Type.String(told)),
        }),
        response: {
          200: { description: 'The challenge.', content: { 'text/plain': { schema: Type.String(told) } } },
          ...errors(400, 403, 404, 503),
        },
      },
    },
    async (request, reply) => {
      const { called } = await calledConnections(deps, request, 'waba', 'all')
      const query = request.query as Record<string, string | undefined>
      const isRight = sameSecret(query['hub.verify_token'] ?? '', called.settings.verifyToken)
      if (query['hub.mode'] !== 'subscribe' || !isRight)
        throw forbidden('The verify token is not the one of this connection')
      return reply.type('text/plain; charset=utf-8').send(query['hub.challenge'] ?? '')
    },
  )
}

function receivingRoute(scope: App, deps: CallbackDeps): void {
  scope.post(
    path,
    {
      // Before the body is read: nobody makes us hold 3 MB without so much as a signature.
      onRequest: async (request) => {
        if (readSignature(request.headers['x-hub-signature-256']) === null) throw unsigned()
      },
      schema: {
        ...callbackRoute,
        operationId: 'receiveCallback',
        summary: 'Take a callback of the official platform',
        description: 'Signed with the app secret over the raw bytes. 200 means that everything in it is stored.',
        params: callbackParams,
        response: {
          200: Type.Object({ success: Type.Boolean() }, { description: 'Stored, or nothing in it to store.' }),
          ...errors(400, 401, 404, 413, 503),
        },
      },
    },
    async (request) => {
      const connections = await calledConnections(deps, request, 'waba')
      const signature = readSignature(request.headers['x-hub-signature-256'])
      const body = bytesOf(request)
      const isTaken = signature !== null && (await takeCallback(deps, connections, body, signature))
      if (!isTaken) throw unsigned()
      return { success: true }
    },
  )
}

const unsigned = () => unauthorized('The signature is missing or not made with the app secret of this connection')

/**
 * Takes one callback: false when the called connection's app did not sign it, true once all of it is committed.
 * Throws 503 when it could not be, so that the platform sends it again.
 */
async function takeCallback(
  deps: CallbackDeps,
  { called, all }: Called<'waba'>,
  body: Buffer,
  signature: Buffer,
): Promise<boolean> {
  if (!isSignedBy(called.settings.appSecret, body, signature)) {
    deps.log.warn('callback refused: signature', { workspaceId: called.workspaceId, connectionId: called.id })
    return false
  }
  // An app has one callback for all of its numbers; numbers of another app have another secret.
  const signed = all.filter((one) => one.settings.appSecret === called.settings.appSecret)
  const parsed = readCallback(body, deps.clock.now(), parse)
  await storeCallback(deps, called, parsed, routeItems(signed, parsed.items))
  return true
}

/** Gives each item to the connection of its number, or to every connection of its account. */
function routeItems(connections: readonly StoredWaba[], items: readonly Delivered[]): Routed {
  const deliveries = new Map<StoredConnection, ChannelEvent[]>()
  let strays = 0
  for (const { numberId, accountId, event } of items) {
    const receivers = connections.filter((one) =>
      numberId === null ? accountId !== null && one.accountId === accountId : one.numberId === numberId,
    )
    if (receivers.length === 0) strays++
    for (const receiver of receivers) {
      const events = deliveries.get(receiver)
      if (events === undefined) deliveries.set(receiver, [event])
      else events.push(event)
    }
  }
  return { deliveries, strays }
}

const shape = /^sha256=([0-9a-f]{64})$/

/** The digest that an `X-Hub-Signature-256` header carries; null when it is missing or malformed. */
export function readSignature(header: unknown): Buffer | null {
  const hex = typeof header === 'string' ? shape.exec(header)?.[1] : undefined
  return hex === undefined ? null : Buffer.from(hex, 'hex')
}

/** Whether this app secret signed these very bytes. A body that was parsed and written again has another signature. */
export function isSignedBy(appSecret: string, body: Uint8Array, signature: Buffer): boolean {
  if (appSecret === '') return false
  const expected = createHmac('sha256', appSecret).update(body).digest()
  return expected.length === signature.length && timingSafeEqual(expected, signature)
}
