import type { FastifyError, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { ApiError, forbidden, notFound, unauthorized } from '../../base/errors.ts'
import { isUuid } from '../../base/id.ts'
import { type App, errors, postman } from '../../base/route.ts'
import { sameSecret } from '../../base/secret-token.ts'
import { findCallbackConnections } from '../queries.ts'
import { openConnection } from '../sealed.ts'
import { readSignature } from './signature.ts'
import { type CallbackConnections, takeCallback, type WebhookDeps } from './take-callback.ts'

// The platform sends up to 3 MB.
const maxBodyBytes = 3 * 1024 * 1024
const path = '/channels/waba/:connectionId/webhook'
const about = { tags: ['Channels'], security: [], ...postman({ skip: true }) }
const params = Type.Object({
  connectionId: Type.String({ description: 'The connection that the callback is set for.' }),
})

/** What the official platform calls. Only these routes take raw bytes, hence a scope of their own. */
export function wabaWebhookRoutes(app: App, deps: WebhookDeps): void {
  app.register(async (scope: App) => {
    scope.removeAllContentTypeParsers()
    // The signature is over the very bytes, whatever type they claim to be of.
    scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: maxBodyBytes }, (_request, body, done) => {
      done(null, body)
    })
    scope.setErrorHandler((error: FastifyError) => {
      if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') throw new ApiError(413, 'Body is larger than 3 MiB')
      throw error
    })
    verificationRoute(scope, deps)
    callbackRoute(scope, deps)
  })
}

function verificationRoute(scope: App, deps: WebhookDeps): void {
  scope.get(
    path,
    {
      schema: {
        ...about,
        operationId: 'verifyCallback',
        summary: 'Answer the handshake of the official platform',
        description: 'Answers the challenge when the token is the one of the connection.',
        params,
        querystring: Type.Object({
          'hub.mode': Type.Optional(Type.String()),
          'hub.challenge': Type.Optional(Type.String()),
          'hub.verify_token': Type.Optional(Type.String()),
        }),
        response: {
          200: { description: 'The challenge.', content: { 'text/plain': { schema: Type.String() } } },
          ...errors(400, 403, 404, 503),
        },
      },
    },
    async (request, reply) => {
      const { called } = await connectionsOf(deps, request)
      const query = request.query as Record<string, string | undefined>
      const isRight = sameSecret(query['hub.verify_token'] ?? '', called.settings.verifyToken)
      if (query['hub.mode'] !== 'subscribe' || !isRight)
        throw forbidden('The verify token is not the one of this connection')
      return reply.type('text/plain; charset=utf-8').send(query['hub.challenge'] ?? '')
    },
  )
}

function callbackRoute(scope: App, deps: WebhookDeps): void {
  scope.post(
    path,
    {
      // Before the body is read: nobody makes us hold 3 MB without so much as a signature.
      onRequest: async (request) => {
        if (readSignature(request.headers['x-hub-signature-256']) === null) throw unsigned()
      },
      schema: {
        ...about,
        operationId: 'receiveCallback',
        summary: 'Take a callback of the official platform',
        description: 'Signed with the app secret over the raw bytes. 200 means that everything in it is stored.',
        params,
        response: {
          200: Type.Object({ success: Type.Boolean() }, { description: 'Stored, or nothing in it to store.' }),
          ...errors(401, 404, 413, 503),
        },
      },
    },
    async (request) => {
      const connections = await connectionsOf(deps, request)
      const signature = readSignature(request.headers['x-hub-signature-256'])
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
      const isTaken = signature !== null && (await takeCallback(deps, connections, body, signature))
      if (!isTaken) throw unsigned()
      return { success: true }
    },
  )
}

async function connectionsOf(deps: WebhookDeps, request: FastifyRequest): Promise<CallbackConnections> {
  const { connectionId } = request.params as { connectionId: string }
  const id = connectionId.toLowerCase()
  const rows = isUuid(id) ? await findCallbackConnections(deps.db.sql, id) : []
  const [first] = rows
  if (first === undefined) throw notFound('Connection not found')
  const open = await deps.vault.withKeyring(first.workspace_id, (keyring) =>
    rows.map((row) => openConnection(keyring, row)),
  )
  const all = open.filter((one) => one.channel === 'waba')
  const called = all.find((one) => one.id === id)
  if (called === undefined) throw notFound('Connection not found')
  return { called, all }
}

const unsigned = () => unauthorized('The signature is missing or not made with the app secret of this connection')
