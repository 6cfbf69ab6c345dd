import { Type } from 'typebox'
import { conflict, invalid } from '../../base/errors.ts'
import { maxPhoneLength, parsePhone, phoneProblem } from '../../base/phone/phone.ts'
import { oneOf, titled } from '../../base/route.ts'
import { text, uuid } from '../../base/schema-types.ts'
import type { TeamApi } from '../../team/team-api.ts'
import { idSchema, workspaceParams } from '../../team/team-schema.ts'
import { conversationParam, noQuery, replyToSend, sendResponses, validatedByHandler } from '../api/routes-write.ts'
import { strictTitled } from '../api/schema.ts'
import { findOrCreateConversation } from '../assignment/find-or-create-conversation.ts'
import { readDetails } from '../read/read-details.ts'
import { sendMessage } from '../send/send.ts'
import { parseIdempotencyKey, templateCommandOf } from '../send/send-command.ts'
import type { SendDeps } from '../send/send-deps.ts'
import { StaleThread } from '../send/send-errors.ts'
import {
  memberSendConflict,
  overBudget,
  SendHeaders,
  sendErrors,
  TeamSend,
  TemplateToStart,
} from '../send/send-schema.ts'
import { parseSendOutcome } from '../send/settle-parts.ts'
import { conversationsPath, presentTeamMessage, requireInbox, scopeOf } from './present-conversation.ts'

/** Route for a member's send; it sets the owner to `human`. */
export function sendRoutes(api: TeamApi, deps: SendDeps): void {
  api.post(`${conversationsPath}/:id/messages`, 'member', {
    operationId: 'sendMessageAsMember',
    summary: 'Send a message to the customer',
    description:
      'Like the send of the Inbox API, but for any conversation of the workspace, and with files (`media`, an upload of the conversation), reactions and quotes. Except for reactions, sets the owner to `human` in the same step and, if there is no assignee, assigns the conversation to the member. With `if_last_message_id`, nothing is sent if there are newer messages. If a budget is used up, nothing is sent without `over_budget`. Files are uploaded to the platform first, so the response can take minutes.',
    params: Type.Object({ ...workspaceParams, ...conversationParam }),
    headers: SendHeaders,
    query: noQuery,
    body: TeamSend,
    answers: { ...sendResponses, 409: memberSendConflict },
    options: validatedByHandler,
    run: async ({ member, request, reply }) => {
      requireInbox(member)
      const sender = { workspaceId: member.workspaceId, connectionIds: [], actor: member.actor }
      return replyToSend((...asked) => sendMessage(deps, ...asked), sender, request, reply).catch((error) =>
        throwWithNewer(deps, member.workspaceId, error),
      )
    },
  })
}

async function throwWithNewer(deps: SendDeps, workspaceId: string, error: unknown): Promise<never> {
  if (!(error instanceof StaleThread)) throw error
  const details = await readDetails(deps, workspaceId, [error.newer])
  throw conflict(error.message, { ...error.data, message: presentTeamMessage(error.newer, () => null, details) })
}

const NewConversation = strictTitled('NewConversation', {
  connection_id: uuid('Connection to send from.'),
  phone: text(maxPhoneLength, 'Number to send to, with country code.', {
    minLength: 1,
    example: '+55 81 99123-4567',
  }),
  template: TemplateToStart,
  ...overBudget,
})

const StartedConversation = titled('StartedConversation', {
  conversation_id: idSchema('Id of the new or existing conversation with this number.'),
  began: Type.Boolean({ description: 'False if a conversation with this number already existed.' }),
  message_id: idSchema('Message id.'),
  status: oneOf(['sent', 'failed'] as const, { description: 'Immediate result from the platform.' }),
})

/** Route for people, equivalent to the agents' `start_conversation`. */
export function startRoutes(api: TeamApi, deps: SendDeps): void {
  api.post(conversationsPath, 'member', {
    operationId: 'startConversation',
    summary: 'Start a conversation with a template',
    description:
      'Sends an approved template to a number that has not written, or whose 24-hour window is closed. Sets the owner to `human` and, if there is no assignee, assigns the conversation to the member. Creates a conversation only if the message can be sent. Sends at most once per Idempotency-Key.',
    headers: SendHeaders,
    body: NewConversation,
    answers: { 202: StartedConversation, ...sendErrors, 409: memberSendConflict },
    errors: [429, 503],
    run: async ({ member, body, headers, reply }) => {
      requireInbox(member)
      const idempotencyKey = parseIdempotencyKey(headers['idempotency-key'])
      const { connection_id, phone: enteredPhone, template, over_budget: isOverBudget = false } = body
      const phone = parsePhone(enteredPhone, member.workspace.defaultCountry ?? undefined)
      if (phone === null) throw invalid('phone', phoneProblem(enteredPhone))
      const sender = { ...scopeOf(member), actor: member.actor }
      const { conversation, isNew } = await findOrCreateConversation(deps, sender, {
        connectionId: connection_id.toLowerCase(),
        phone,
        template: templateCommandOf(template),
        isOverBudget,
      })
      const sent = await sendMessage(deps, sender, {
        conversationId: conversation.id,
        idempotencyKey,
        body: { kind: 'template', template, over_budget: isOverBudget },
      })
      if (sent.isReplay) reply.header('idempotent-replayed', 'true')
      return { conversation_id: conversation.id, began: isNew, ...parseSendOutcome(sent) }
    },
  })
}
