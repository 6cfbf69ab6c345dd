import type { FastifyReply, FastifyRequest, FastifySchema, onRequestHookHandler } from 'fastify'
import { Type } from 'typebox'
import { approvalOf, callerOf } from '../../auth/api-keys/caller.ts'
import { invalid } from '../../base/errors.ts'
import { type App, errors } from '../../base/route.ts'
import { text } from '../../base/schema-types.ts'
import { limitToNow, parseTimeWithOffset, timeWithOffsetMessage } from '../../base/time.ts'
import { compileForRequest } from '../../base/validation.ts'
import type { Actor } from '../../workspaces/actor.ts'
import { type ConversationPatch, updateConversation } from '../assignment/update-conversation.ts'
import type { InboxDeps } from '../conversation/conversation.ts'
import { maxSkewMs } from '../conversation/conversation-state.ts'
import { parseOwner } from '../conversation/owner.ts'
import { markRead } from '../read/mark-read.ts'
import { recordEcho, requireEchoConnection } from '../receive/echo.ts'
import { createSend, type SendMessage } from '../send/send.ts'
import type { SendDeps, Sender } from '../send/send-deps.ts'
import { Send, SendHeaders, Sent, sendErrors } from '../send/send-schema.ts'
import {
  conversationFirst,
  type InboxGuard,
  inboxRouteSchema,
  limitLookups,
  readViewerContext,
  scopeOf,
} from './key-request.ts'
import { presentConversation } from './present.ts'
import * as schema from './schema.ts'
import { changeErrors, conversationErrors, echoErrors } from './schema.ts'

export function serveChanges(app: App, deps: InboxDeps, guard: InboxGuard): void {
  app.patch(
    '/api/v1/inbox/conversations/:id',
    {
      onRequest: guard.inbox('inbox.write'),
      preParsing: conversationFirst(deps),
      schema: {
        ...inboxRouteSchema,
        operationId: 'updateConversation',
        summary: 'Change owner, status or labels; add a note',
        description:
          "Scope `inbox.write`. At least one field is required; the changes apply together or not at all. `owner: human` hands the conversation to people; the key's own `agent:<api_key_id>` takes it over. That fails with 409 if people have the conversation and the workspace lets agents take back only conversations handed to them. Another agent's id fails with 403 `OWNER_FORBIDDEN`. A change of owner emits `inbox.conversation.owner_changed`. `snoozed` lasts until the customer writes.",
        params: schema.ConversationId,
        querystring: schema.NoQuery,
        body: schema.ConversationChanges,
        response: {
          200: Type.Object({ conversation: schema.Conversation }),
          ...changeErrors,
        },
      },
    },
    async (request) => {
      const caller = callerOf(request)
      const actor: Actor = { type: 'agent', id: caller.keyId }
      const patch = parsePatch(request.body)
      const conversation = await updateConversation(deps, scopeOf(caller), actor, request.params.id, patch)
      return { conversation: presentConversation(conversation, await readViewerContext(deps, request)) }
    },
  )
}

function parsePatch({ owner, status, label_ids, note }: schema.ConversationChanges): ConversationPatch {
  const newOwner = owner === undefined ? null : parseOwner(owner)
  return {
    ...(newOwner === null ? {} : { owner: newOwner }),
    ...(status === undefined ? {} : { status }),
    ...(label_ids === undefined ? {} : { labelIds: label_ids.map((id) => id.toLowerCase()) }),
    ...(note === undefined ? {} : { note }),
  }
}

export function serveRead(app: App, deps: InboxDeps, guard: InboxGuard): void {
  app.post(
    '/api/v1/inbox/conversations/:id/read',
    {
      onRequest: guard.inbox('inbox.write'),
      preParsing: conversationFirst(deps),
      schema: {
        ...inboxRouteSchema,
        operationId: 'markConversationRead',
        summary: 'Mark a conversation read',
        description:
          'Scope `inbox.write`. No body. Also marks the messages read on the platform; if that fails, the request still succeeds.',
        params: schema.ConversationId,
        querystring: schema.NoQuery,
        response: {
          200: Type.Object({
            id: schema.conversationFields.id,
            unread_count: Type.Integer({ minimum: 0, maximum: 0, description: 'Always 0.', example: 0 }),
          }),
          ...conversationErrors,
          ...errors(413, 415),
        },
      },
    },
    async (request) => {
      const { id, unreadCount } = await markRead(deps, scopeOf(callerOf(request)), request.params.id)
      return { id, unread_count: unreadCount }
    },
  )
}

const echoResponse = (inserted: boolean) =>
  Type.Object({
    message_id: schema.messageFields.id,
    inserted: Type.Boolean({ description: 'False if this `external_id` was recorded before.', example: inserted }),
  })

export function serveEchoes(app: App, deps: InboxDeps, guard: InboxGuard): void {
  app.post(
    '/api/v1/inbox/echoes',
    {
      onRequest: guard.inbox('inbox.write'),
      preValidation: requireConnection(deps),
      schema: {
        ...inboxRouteSchema,
        operationId: 'recordEcho',
        summary: 'Record a message that another app sent',
        description:
          'Scope `inbox.write`. For callers that send through their own app on the same number. The conversation is found by any variant of the number, or created and owned by people. It no longer counts as unanswered; its owner and status do not change. One `external_id` stores one message: a repeat returns 200 with `inserted` false. Emits `inbox.message.sent` with `actor` null. No delivery status arrives for the message.',
        querystring: schema.NoQuery,
        body: schema.EchoBody,
        response: { 200: echoResponse(false), 202: echoResponse(true), ...echoErrors },
      },
    },
    async (request, reply) => {
      const { connection_id, to, external_id, kind, body, occurred_at } = request.body
      const echo = {
        connectionId: connection_id.toLowerCase(),
        to,
        externalId: external_id,
        kind: kind === 'template' ? 'template' : 'text',
        text: body,
        occurredAt: occurred_at === undefined ? null : parseOccurredAt(occurred_at, deps.clock.now()),
      } as const
      const record = () => recordEcho(deps, callerOf(request).workspaceId, echo)
      // An echo that creates a conversation counts as a failed lookup.
      const result = await limitLookups(request, guard, record, ({ isNewConversation }) => isNewConversation)
      return reply.code(result.inserted ? 202 : 200).send({ message_id: result.messageId, inserted: result.inserted })
    },
  )
}

/** Throws 404 for a connection that the key cannot see, whatever else the body contains. */
function requireConnection({ db }: InboxDeps) {
  return async (request: FastifyRequest): Promise<void> => {
    const connectionId = (request.body as { connection_id?: unknown } | null | undefined)?.connection_id
    if (typeof connectionId !== 'string') return
    await requireEchoConnection(db.sql, scopeOf(callerOf(request)), connectionId)
  }
}

function parseOccurredAt(text: string, now: Date): Date {
  const time = parseTimeWithOffset(text)
  if (time === null) throw invalid('occurred_at', timeWithOffsetMessage)
  if (time.getTime() > now.getTime() + maxSkewMs) throw invalid('occurred_at', 'must not be in the future')
  return limitToNow(time, now)
}

interface SendGuard {
  inbox(scope: 'inbox.write'): onRequestHookHandler
}

export const conversationParam = { id: text(255, 'Conversation id.', { example: '{{conversation_id}}' }) }
export const noQuery = Type.Object({}, { additionalProperties: false })
export const sendResponses = { 202: Sent, ...errors(400, 401, 403, 404, 413, 415, 429, 500, 503), ...sendErrors }

// A missing conversation is reported before an invalid body, so the operation validates the body itself.
export const validatedByHandler = {
  attachValidation: true,
  validatorCompiler: ({ schema, httpPart }: { schema: object; httpPart?: string }) =>
    httpPart === 'body' ? () => true : compileForRequest(schema, httpPart),
}

/** Registers `POST …/messages`. */
export function sendRoutes(app: App, deps: SendDeps, guard: SendGuard): void {
  const send = createSend(deps)
  app.route({
    method: 'POST',
    url: '/api/v1/inbox/conversations/:id/messages',
    onRequest: guard.inbox('inbox.write'),
    ...validatedByHandler,
    schema: {
      tags: ['Inbox'],
      security: [{ apiKey: [] }],
      operationId: 'sendMessage',
      summary: 'Send a text or a template',
      description:
        'Scope `inbox.write`. Only the owning key can send. Text requires an open 24-hour window. Each Idempotency-Key sends at most once: a repeat returns the first response byte for byte, with `Idempotent-Replayed: true`. Emits `inbox.message.sent`.',
      params: Type.Object(conversationParam),
      headers: SendHeaders,
      querystring: noQuery,
      body: Send,
      response: sendResponses,
    } satisfies FastifySchema,
    handler: async (request, reply) => {
      const caller = callerOf(request)
      const { workspaceId, keyId, connectionIds, sendLimits: limits } = caller
      const actor = { type: 'agent', id: keyId } as const
      const sender: Sender = { workspaceId, connectionIds, limits, actor, ...approvalOf(caller) }
      return replyToSend(send, sender, request, reply)
    },
  })
}

/** Sends the message and replies with exactly the bytes that a replay gets. */
export async function replyToSend(
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
