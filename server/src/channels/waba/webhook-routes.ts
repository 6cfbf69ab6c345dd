import { createHmac, timingSafeEqual } from 'node:crypto'
import { Type } from 'typebox'
import { isSameSecret } from '../../base/encryption/secret-token.ts'
import { forbidden } from '../../base/errors.ts'
import { type App, errors } from '../../base/route.ts'
import { maxHeadBytes } from '../../base/schema-types.ts'
import type { ChannelEvent, Delivered } from '../channel-event.ts'
import type { StoredConnection, StoredWaba } from '../connection/connection.ts'
import {
  type CallbackDeps,
  callbackParams,
  callbackRoute,
  callbackScope,
  calledConnections,
  type Routed,
  receivingRoute,
} from '../store-callback.ts'
import { parse } from './read/parse.ts'

// What the platform puts into its address, it gets back.
const told = { maxLength: maxHeadBytes }

/** What the official platform calls. */
export function wabaWebhookRoutes(app: App, deps: CallbackDeps): void {
  callbackScope(app, (scope) => {
    verificationRoute(scope, deps)
    receivingRoute(scope, deps, {
      channel: 'waba',
      words: {
        operationId: 'receiveCallback',
        summary: 'Take a callback of the official platform',
        description: 'Signed with the app secret over the raw bytes. 200 means that everything in it is stored.',
      },
      proofName: 'signature',
      unproved: 'The signature is missing or not made with the app secret of this connection',
      readProof: (headers) => readSignature(headers['x-hub-signature-256']),
      isProved: ({ settings }, signature, body) => isSignedBy(settings.appSecret, body, signature),
      parse,
      // An app has one callback for all of its numbers; numbers of another app have another secret.
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
      const isRight = isSameSecret(query['hub.verify_token'] ?? '', called.settings.verifyToken)
      if (query['hub.mode'] !== 'subscribe' || !isRight)
        throw forbidden('The verify token is not the one of this connection')
      return reply.type('text/plain; charset=utf-8').send(query['hub.challenge'] ?? '')
    },
  )
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
