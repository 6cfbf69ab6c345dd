import { Type } from 'typebox'
import { ApiError, invalid } from '../../base/errors.ts'
import { maxPhoneLength, phoneProblem, readPhone } from '../../base/phone/phone.ts'
import { type App, errors, oneOf } from '../../base/route.ts'
import { text, uuid } from '../../base/schema-types.ts'
import { memberOf, type TeamGuard } from '../../team/member.ts'
import { closed, idSchema, workspaceParams } from '../../team/team-schema.ts'
import { readIdempotencyKey } from '../conversation/idempotency-key.ts'
import { beginConversation } from '../ownership/begin-conversation.ts'
import { sendMessage } from '../send/send.ts'
import type { SendDeps } from '../send/send-deps.ts'
import { memberRefusal, SendHeaders, sendRefusals, TemplateSend } from '../send/send-schema.ts'
import { conversationRoute, conversationsPath, scopeOf } from './team-request.ts'
import { admitToInbox } from './team-routes-send.ts'

const NewConversation = Type.Object(
  {
    connection_id: uuid('The number to send from.'),
    phone: text(maxPhoneLength, 'The number to send to, with country code.', {
      minLength: 1,
      example: '+55 81 99123-4567',
    }),
    template: TemplateSend.properties.template,
  },
  { ...closed, title: 'NewConversation' },
)

const Started = Type.Object(
  {
    conversation_id: idSchema('The conversation: a new one, or the one that there was with this number.'),
    began: Type.Boolean({ description: 'False: there was a conversation with this number already.' }),
    message_id: idSchema('The message.'),
    status: oneOf(['sent', 'failed'] as const, { description: 'What the platform said at once.' }),
  },
  { title: 'StartedConversation' },
)

/** What agents do by `start_conversation`, for people. */
export function serveStart(app: App, deps: SendDeps, guard: TeamGuard): void {
  app.route({
    method: 'POST',
    url: conversationsPath,
    onRequest: guard.member('member'),
    schema: {
      ...conversationRoute,
      operationId: 'startConversation',
      summary: 'Start a conversation with a template',
      description:
        'Sends an approved template to a number that has not written, or whose 24-hour window is closed. The conversation becomes `human` and, if nobody is assigned, assigned to the member. A conversation begins only for a message that can be sent; under one Idempotency-Key it is sent at most once.',
      params: Type.Object(workspaceParams),
      headers: SendHeaders,
      body: NewConversation,
      response: {
        202: Started,
        ...errors(400, 401, 403, 404, 413, 415, 429, 500, 503),
        ...sendRefusals,
        409: memberRefusal,
      },
    },
    handler: async (request, reply) => {
      const member = memberOf(request)
      admitToInbox(member)
      const idempotencyKey = readIdempotencyKey(request.headers['idempotency-key'])
      const { connection_id, phone: asked, template } = request.body
      const phone = readPhone(asked, member.workspace.defaultCountry ?? undefined)
      if (phone === null) throw invalid('phone', phoneProblem(asked))
      const { name, language, body_params: parameters = [] } = template
      const sender = { ...scopeOf(member), actor: member.actor }
      const { conversation, isNew } = await beginConversation(deps, sender, {
        connectionId: connection_id.toLowerCase(),
        phone,
        template: { kind: 'template', name, language, parameters },
      })
      const sent = await sendMessage(deps, sender, {
        conversationId: conversation.id,
        idempotencyKey,
        body: { kind: 'template', template },
      })
      if (sent.isReplay) reply.header('idempotent-replayed', 'true')
      const said = JSON.parse(sent.body)
      if (sent.status !== 202) throw new ApiError(sent.status, said.statusMessage, { data: said.data })
      return reply.code(202).send({ conversation_id: conversation.id, began: isNew, ...said })
    },
  })
}
