import { Type } from 'typebox'
import { forbidden, unauthorized } from '../../base/errors.ts'
import { type App, errors } from '../../base/route.ts'
import { maxHeadBytes } from '../../base/schema-types.ts'
import { sameSecret } from '../../base/sealing/secret-token.ts'
import { bytesOf, callbackParams, callbackRoute, callbackScope, calledConnections } from '../callback-routes.ts'
import type { CallbackDeps } from '../store-callback.ts'
import { readSignature, takeCallback } from './take-callback.ts'

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
