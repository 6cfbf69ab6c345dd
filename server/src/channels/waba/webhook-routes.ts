import { createHmac, timingSafeEqual } from 'node:crypto'
import { Type } from 'typebox'
import { isSameSecret } from '../../base/encryption/secret-token.ts'
import { forbidden } from '../../base/errors.ts'
import { type App, errors } from '../../base/route.ts'
import { maxHeadBytes } from '../../base/schema-types.ts'
import type { ChannelEvent, DeliveredEvent } from '../channel-event.ts'
import type { StoredConnection, StoredWaba } from '../connection/connection.ts'
import {
  type CallbackDeps,
  callbackParams,
  callbackRoute,
  findCalledConnections,
  type RoutedEvents,
  registerCallbackRoute,
  registerCallbackScope,
} from '../store-callback.ts'
import { parseCallback } from './parse/parse-callback.ts'

// Query parameters of the handshake; the challenge is echoed.
const queryText = { maxLength: maxHeadBytes }

/** Registers the callback routes for the official platform. */
export function wabaWebhookRoutes(app: App, deps: CallbackDeps): void {
  registerCallbackScope(app, (scope) => {
    verificationRoute(scope, deps)
    registerCallbackRoute(scope, deps, {
      channel: 'waba',
      documentation: {
        operationId: 'receiveCallback',
        summary: 'Receive a callback of the official platform',
        description: 'The raw body is signed with the app secret. 200 means that everything is stored.',
      },
      proofName: 'signature',
      unauthorizedMessage: 'The signature is missing or does not match the app secret of this connection',
      parseProof: (headers) => parseSignature(headers['x-hub-signature-256']),
      isAuthentic: ({ settings }, signature, body) => isSignedBy(settings.appSecret, body, signature),
      parseCallback,
      // An app has one callback URL for all its numbers; numbers of another app have another secret.
      route: ({ called, all }, items) =>
        routeItems(
          all.filter(({ settings }) => settings.appSecret === called.settings.appSecret),
          items,
        ),
    })
  })
}

function verificationRoute(scope: App, deps: CallbackDeps): void {
  scope.get(
    '/channels/waba/:connectionId/webhook',
    {
      schema: {
        ...callbackRoute,
        operationId: 'verifyCallback',
        summary: 'Verify the webhook URL for the official platform',
        description: 'Returns the challenge if the token matches the connection.',
        params: callbackParams,
        querystring: Type.Object({
          'hub.mode': Type.Optional(Type.String(queryText)),
          'hub.challenge': Type.Optional(Type.String(queryText)),
          'hub.verify_token': Type.Optional(Type.String(queryText)),
        }),
        response: {
          200: { description: 'The challenge.', content: { 'text/plain': { schema: Type.String(queryText) } } },
          ...errors(400, 403, 404, 503),
        },
      },
    },
    async (request, reply) => {
      const { called } = await findCalledConnections(deps, request, 'waba', 'all')
      const query = request.query as Record<string, string | undefined>
      const isValid = isSameSecret(query['hub.verify_token'] ?? '', called.settings.verifyToken)
      if (query['hub.mode'] !== 'subscribe' || !isValid)
        throw forbidden('The verify token does not match this connection')
      return reply.type('text/plain; charset=utf-8').send(query['hub.challenge'] ?? '')
    },
  )
}

/** Assigns each item to the connection of its number, or to all connections of its account. */
function routeItems(connections: readonly StoredWaba[], items: readonly DeliveredEvent[]): RoutedEvents {
  const deliveries = new Map<StoredConnection, ChannelEvent[]>()
  let unroutedCount = 0
  for (const { numberId, accountId, event } of items) {
    const receivers = connections.filter((one) =>
      numberId === null ? accountId !== null && one.accountId === accountId : one.numberId === numberId,
    )
    if (receivers.length === 0) unroutedCount++
    for (const receiver of receivers) {
      const events = deliveries.get(receiver)
      if (events === undefined) deliveries.set(receiver, [event])
      else events.push(event)
    }
  }
  return { deliveries, unroutedCount }
}

const shape = /^sha256=([0-9a-f]{64})$/

/** Returns the digest in an `X-Hub-Signature-256` header; null if missing or malformed. */
export function parseSignature(header: unknown): Buffer | null {
  const hex = typeof header === 'string' ? shape.exec(header)?.[1] : undefined
  return hex === undefined ? null : Buffer.from(hex, 'hex')
}

/** Returns whether the app secret signed exactly these bytes; a reserialized body has another signature. */
export function isSignedBy(appSecret: string, body: Uint8Array, signature: Buffer): boolean {
  if (appSecret === '') return false
  const expected = createHmac('sha256', appSecret).update(body).digest()
  return expected.length === signature.length && timingSafeEqual(expected, signature)
}
