import type { FastifyReply, FastifyRequest, FastifySchema, onRequestHookHandler } from 'fastify'
import { Type } from 'typebox'
import { callerOf } from '../../access/keys/caller.ts'
import { conflict, forbidden, unavailable } from '../../base/errors.ts'
import { type App, errors, postman } from '../../base/route.ts'
import { text } from '../../base/schema-types.ts'
import { compileForRequest } from '../../base/validation.ts'
import { type Member, memberOf, type TeamGuard } from '../../team/member.ts'
import { teamRoute, workspaceParams } from '../../team/team-schema.ts'
import { sendMessage } from '../send/send.ts'
import type { SendDeps, Sender } from '../send/send-deps.ts'
import { ThreadMoved } from '../send/send-errors.ts'
import { memberRefusal, Send, SendHeaders, Sent, sendRefusals, TeamSend } from '../send/send-schema.ts'
import { presentTeamMessage } from '../team-api/team-present.ts'

export interface SendGuard {
  inbox(scope: 'inbox.write'): onRequestHookHandler
}

const conversation = { id: text(255, 'The conversation.', { example: '{{conversation_id}}' }) }
const noQuery = Type.Object({}, { additionalProperties: false })
const example = { kind: 'text', text: 'Your order has left our warehouse.' }
const response = { 202: Sent, ...errors(400, 401, 403, 404, 413, 415, 429, 500, 503), ...sendRefusals }
const teamResponse = { ...response, 409: memberRefusal }

// Whether the conversation is there is said before what is wrong with the request, so the verb reads the body itself.
const judgedByVerb = {
  attachValidation: true,
  validatorCompiler: ({ schema, httpPart }: { schema: object; httpPart?: string }) =>
    httpPart === 'body' ? () => true : compileForRequest(schema, httpPart),
}

/** `POST …/messages` of the inbox interface. */
export function sendRoutes(app: App, deps: SendDeps, guard: SendGuard): void {
  app.route({
    method: 'POST',
    url: '/api/v1/inbox/conversations/:id/messages',
    onRequest: guard.inbox('inbox.write'),
    ...judgedByVerb,
    schema: {
      tags: ['Inbox'],
      security: [{ apiKey: [] }],
      ...postman({
        body: example,
        headers: { 'Idempotency-Key': '{{$guid}}' },
        path: { id: '{{conversation_id}}' },
        saves: { message_id: 'message_id' },
      }),
      operationId: 'sendMessage',
      summary: 'Send a text or a template',
      description:
        'Scope `inbox.write`. Only the owning key may send; text needs an open 24-hour window. One Idempotency-Key sends at most once: a repeat returns the first answer, byte for byte, with `Idempotent-Replayed: true`. Emits `inbox.message.sent`.',
      params: Type.Object(conversation),
      headers: SendHeaders,
      querystring: noQuery,
      body: Send,
      response,
    } satisfies FastifySchema,
    handler: async (request, reply) => {
      const { workspaceId, keyId, connectionIds } = callerOf(request)
      return answer(deps, { workspaceId, connectionIds, actor: { type: 'agent', id: keyId } }, request, reply)
    },
  })
}

/** The member's send: it makes the conversation `human`. */
export function sendTeamRoutes(app: App, deps: SendDeps, guard: Pick<TeamGuard, 'member'>): void {
  app.route({
    method: 'POST',
    url: '/api/team/v1/workspaces/:workspaceId/inbox/conversations/:id/messages',
    onRequest: guard.member('member'),
    ...judgedByVerb,
    schema: {
      ...teamRoute('Team inbox'),
      ...postman({
        body: example,
        headers: { 'Idempotency-Key': '{{$guid}}' },
        path: { workspaceId: '{{workspace_id}}', id: '{{conversation_id}}' },
      }),
      operationId: 'sendMessageAsMember',
      summary: 'Write to the customer',
      description:
        'As in the inbox interface, for any conversation of the workspace. The conversation becomes `human` in the same step. With `if_last_message_id` nothing is sent when the thread has moved since.',
      params: Type.Object({ ...workspaceParams, ...conversation }),
      headers: SendHeaders,
      querystring: noQuery,
      body: TeamSend,
      response: teamResponse,
    } satisfies FastifySchema,
    handler: async (request, reply) => {
      const member = memberOf(request)
      admitToInbox(member)
      return answer(deps, { workspaceId: member.workspaceId, connectionIds: [], actor: member.actor }, request, reply)
    },
  })
}

function admitToInbox({ workspace }: Member): void {
  if (!workspace.inboxEnabled) throw forbidden('The plan of this workspace does not include the inbox')
  if (!workspace.inboxAvailable) {
    throw unavailable('The inbox is not available for this workspace at the moment', { code: 'CHAT_INBOX_UNAVAILABLE' })
  }
}

async function answer(
  deps: SendDeps,
  sender: Sender,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { id } = request.params as { id: string }
  const { status, body, isReplay } = await sendMessage(deps, sender, {
    conversationId: id,
    idempotencyKey: request.headers['idempotency-key'],
    body: request.body,
    problem: request.validationError,
  }).catch(showNewer)
  if (isReplay) reply.header('idempotent-replayed', 'true')
  return reply.code(status).type('application/json; charset=utf-8').send(body)
}

function showNewer(error: unknown): never {
  if (!(error instanceof ThreadMoved)) throw error
  throw conflict(error.message, { ...error.data, message: presentTeamMessage(error.newer, () => null) })
}
