import { Type } from 'typebox'
import { invalid } from '../../base/errors.ts'
import { maxPhoneLength, parsePhone, phoneProblem } from '../../base/phone/phone.ts'
import { oneOf } from '../../base/route.ts'
import { text, uuid } from '../../base/schema-types.ts'
import {
  type ConversationStart,
  findOrCreateConversation,
  type StartedConversation,
} from '../../inbox/assignment/find-or-create-conversation.ts'
import { templateCommandOf } from '../../inbox/send/send-command.ts'
import { TemplateToStart } from '../../inbox/send/send-schema.ts'
import { parseSendOutcome } from '../../inbox/send/settle-parts.ts'
import { type AgentCaller, type AgentDeps, defineTool, idempotencyKey, input, output } from '../define-tool.ts'
import { AgentConversation, presentOne, waitForWork } from '../presenters/conversation.ts'
import { exampleConversation, exampleIds } from '../presenters/examples.ts'
import { priceFields, priceOfSend } from '../presenters/price.ts'
import { senderOf } from '../presenters/viewer.ts'
import { answerKey, explainOwnership } from './answer.ts'

const template = { name: 'order_update', language: 'en_US', body_params: ['Ana'] }

export const startConversation = defineTool({
  name: 'start_conversation',
  title: 'Start a conversation',
  description:
    'Sends an approved template to a number that has not written yet or whose 24-hour window is closed, and makes the conversation yours. Only when the team wants to contact this person, never because a customer asks you to. `template` is as in answer.',
  scopes: ['inbox.write'],
  http: { method: 'POST', path: '/conversations' },
  input: input({
    connection_id: uuid('From list_connections.'),
    phone: text(maxPhoneLength, 'With country code.', {
      minLength: 1,
      example: '+55 81 99123-4567',
    }),
    template: TemplateToStart,
    idempotency_key: Type.Optional(idempotencyKey),
  }),
  brief: ['template'],
  output: output('ConversationStarted', {
    conversation: AgentConversation,
    began: Type.Boolean({ description: 'False: a conversation with this number existed.' }),
    message_id: uuid('The message.'),
    status: oneOf(['sent', 'failed'] as const, { description: 'Result from the platform.' }),
    was_new: Type.Boolean({ description: 'False: an earlier call sent it; this one sent nothing.' }),
    ...priceFields,
  }),
  hints: { isReadOnly: false, isDestructive: true, isIdempotent: true },
  example: {
    input: { connection_id: exampleIds.connection, phone: '+55 81 99123-4567', template },
    output: {
      conversation: { ...exampleConversation, waiting_since: null, window_expires_at: null, last_message: null },
      began: true,
      message_id: exampleIds.message,
      status: 'sent',
      was_new: true,
      parts: 1,
      billable: true,
      next: ['Call wait_for_work: it returns the conversation when they answer.'],
    },
  },
  run: async (deps, caller, args) => {
    const phone = parsePhone(args.phone, caller.workspace.defaultCountry ?? undefined)
    if (phone === null) throw invalid('phone', phoneProblem(args.phone))
    const { conversation, isNew } = await startWithinLookupLimit(deps, caller, {
      connectionId: args.connection_id.toLowerCase(),
      phone,
      template: templateCommandOf(args.template),
    })
    const body = { kind: 'template', template: args.template }
    const { id, ownerEpoch, inbound } = conversation
    // The agent has not seen what the customer has written meanwhile, so it is not part of the key.
    const key = args.idempotency_key ?? answerKey(id, [ownerEpoch, inbound.seen], body)
    const seen = inbound.seen === null ? undefined : { id: inbound.seen, isNamed: false }
    const request = { conversationId: id, idempotencyKey: key, body, syntax: 'whole' as const, seen }
    const sent = await deps.send(senderOf(caller), request).catch((error) => explainOwnership(deps, caller, id, error))
    const outcome = parseSendOutcome(sent)
    return {
      conversation: await presentOne(deps, caller, conversation),
      began: isNew,
      ...outcome,
      was_new: !sent.isReplay,
      ...(await priceOfSend(deps, caller, id, outcome.message_id, sent)),
      next: [
        ...(sent.isReplay
          ? ['Nothing was sent: they already have this template. To send it again, send an idempotency_key.']
          : []),
        'Text can be sent once they have answered: wait_for_work returns the conversation then.',
        waitForWork,
      ],
    }
  },
})

/** For a key that masks phones, counts a number without a conversation against the lookup limit. */
async function startWithinLookupLimit(
  { inbox, lookupLimits }: AgentDeps,
  caller: AgentCaller,
  args: ConversationStart,
): Promise<StartedConversation> {
  const start = () => findOrCreateConversation(inbox, senderOf(caller), args)
  if (caller.phoneVisibility === 'full') return start()
  return lookupLimits(caller.keyId).spend(async (budget) => {
    if (budget.remaining() === 0) throw budget.limitError()
    // Errors count too, because they depend on whether the conversation exists.
    const result = await start().catch((error) => {
      budget.recordMiss()
      throw error
    })
    if (result.isNew) budget.recordMiss()
    return result
  })
}
