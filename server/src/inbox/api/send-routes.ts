import type { FastifyReply, FastifyRequest, FastifySchema, onRequestHookHandler } from 'fastify'
import { Type } from 'typebox'
import { callerOf } from '../../access/keys/caller.ts'
import { type App, errors } from '../../base/route.ts'
import { text } from '../../base/schema-types.ts'
import { compileForRequest } from '../../base/validation.ts'
import { openSend, type SendMessage } from '../send/send.ts'
import type { SendDeps, Sender } from '../send/send-deps.ts'
import { Send, SendHeaders, Sent, sendRefusals } from '../send/send-schema.ts'

export interface SendGuard {
  inbox(scope: 'inbox.write'): onRequestHookHandler
}

export const conversationParam = { id: text(255, 'The conversation.', { example: '{{conversation_id}}' }) }
export const noQuery = Type.Object({}, { additionalProperties: false })
export const sendAnswers = { 202: Sent, ...errors(400, 401, 403, 404, 413, 415, 429, 500, 503), ...sendRefusals }

// Whether the conversation is there is said before what is wrong with the request, so the verb reads the body itself.
export const judgedByVerb = {
  attachValidation: true,
  validatorCompiler: ({ schema, httpPart }: { schema: object; httpPart?: string }) =>
    httpPart === 'body' ? () => true : compileForRequest(schema, httpPart),
}

/** `POST …/messages` of the inbox interface. */
export function sendRoutes(app: App, deps: SendDeps, guard: SendGuard): void {
  const send = openSend(deps)
  app.route({
    method: 'POST',
    url: '/api/v1/inbox/conversations/:id/messages',
    onRequest: guard.inbox('inbox.write'),
    ...judgedByVerb,
    schema: {
      tags: ['Inbox'],
      security: [{ apiKey: [] }],
      operationId: 'sendMessage',
      summary: 'Send a text or a template',
      description:
        'Scope `inbox.write`. Only the owning key may send; text needs an open 24-hour window. One Idempotency-Key sends at most once: a repeat returns the first answer, byte for byte, with `Idempotent-Replayed: true`. Emits `inbox.message.sent`.',
      params: Type.Object(conversationParam),
      headers: SendHeaders,
      querystring: noQuery,
      body: Send,
      response: sendAnswers,
    } satisfies FastifySchema,
    handler: async (request, reply) => {
      const { workspaceId, keyId, connectionIds, sendLimits: limits } = callerOf(request)
      const sender: Sender = { workspaceId, connectionIds, limits, actor: { type: 'agent', id: keyId } }
      return answerSend(send, sender, request, reply)
    },
  })
}

/** Reads the request, sends, and answers in the very words that a repeat gets. */
export async function answerSend(
  send: SendMessage,
  sender: Sender,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { id } = request.params as { id: string }
  const { status, body, isReplay } = await send(sender, {
    conversationId: id,
    idempotencyKey: request.headers['idempotency-key'],
    body: request.body,
    problem: request.validationError,
  })
  if (isReplay) reply.header('idempotent-replayed', 'true')
  return reply.code(status).type('application/json; charset=utf-8').send(body)
}
