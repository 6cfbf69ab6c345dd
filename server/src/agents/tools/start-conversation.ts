import { Type } from 'typebox'
import { forbidden, invalid } from '../../base/errors.ts'
import { maxPhoneLength, parsePhone, phoneProblem } from '../../base/phone/phone.ts'
import { oneOf } from '../../base/route.ts'
import { text, uuid, visiblePattern } from '../../base/schema-types.ts'
import {
  type ConversationStart,
  findOrCreateConversation,
  type StartedConversation,
} from '../../inbox/assignment/find-or-create-conversation.ts'
import { templateCommandOf } from '../../inbox/send/send-command.ts'
import { TemplateToStart } from '../../inbox/send/send-schema.ts'
import { parseSendOutcome } from '../../inbox/send/settle-parts.ts'
import { ListQuery } from '../../leads/lead/schema.ts'
import {
  type AgentCaller,
  type AgentDeps,
  defineTool,
  idempotencyKey,
  idempotentChange,
  input,
  output,
} from '../define-tool.ts'
import { AgentConversation, presentOne, waitForWork } from '../presenters/conversation.ts'
import { exampleConversation, exampleIds } from '../presenters/examples.ts'
import { priceFields, priceOfSend } from '../presenters/message.ts'
import { actorOf, scopeOf, senderOf } from '../presenters/viewer.ts'
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

export const startSequence = defineTool({
  name: 'start_sequence',
  title: 'Start a sequence',
  description:
    'Starts messages of the team that go out over days until the customer answers. Only when the team wants it, never because a customer asks.',
  scopes: ['inbox.write'],
  http: { method: 'POST', path: '/sequence-runs' },
  input: input({
    sequence: text(100, 'Its name; an unknown one lists them.', { minLength: 1, example: 'New lead, seven days' }),
    conversation_id: Type.Optional(uuid('The customer, or lead_id.')),
    lead_id: Type.Optional(uuid()),
  }),
  output: output('SequenceStarted', {
    sequence_id: uuid('The sequence.'),
    was_new: Type.Boolean({ description: 'False: the lead is in it already.' }),
  }),
  hints: { ...idempotentChange, isDestructive: true },
  example: {
    input: { sequence: 'New lead, seven days', conversation_id: exampleIds.conversation },
    output: { sequence_id: exampleIds.message, was_new: true, next: ['Call wait_for_work for the next customer.'] },
  },
  run: async (deps, caller, { sequence, conversation_id, lead_id }) => {
    if ((conversation_id === undefined) === (lead_id === undefined)) {
      throw invalid('conversation_id', 'or lead_id is required, not both')
    }
    if (lead_id !== undefined && !caller.may('leads.read')) throw forbidden('lead_id needs the scope leads.read')
    const started = await deps.startSequence(
      { ...scopeOf(caller), actor: actorOf(caller) },
      {
        sequence,
        conversationId: conversation_id?.toLowerCase() ?? null,
        leadId: lead_id?.toLowerCase() ?? null,
      },
    )
    return { sequence_id: started.sequence.id, was_new: started.isNew, next: [waitForWork] }
  },
})

const name = (maxLength: number) => Type.String({ minLength: 1, maxLength, pattern: visiblePattern })

export const prepareBroadcast = defineTool({
  name: 'prepare_broadcast',
  title: 'Prepare a broadcast',
  description: 'Drafts a template to many leads, which people start. Sends nothing.',
  scopes: ['inbox.write'],
  http: { method: 'POST', path: '/broadcasts' },
  brief: ['status'],
  input: input({
    name: name(100),
    connection_id: uuid(),
    status: ListQuery.properties.status,
    template_name: name(512),
    template_language: name(20),
    variables: Type.Optional(
      Type.Array(Type.String({ maxLength: 300, pattern: '^[^|\\s]' }), {
        maxItems: 100,
        description: 'For {{1}}, …: lead fields or custom keys, as `firstName|there` with a fallback.',
      }),
    ),
  }),
  output: output('BroadcastPrepared', { broadcast_id: uuid('The draft.') }),
  hints: { isReadOnly: false, isDestructive: false, isIdempotent: false },
  example: {
    input: {
      ...{ name: 'Spring sale', connection_id: exampleIds.connection, status: 'qualified' },
      ...{ template_name: 'order_update', template_language: 'en_US', variables: ['firstName|there'] },
    },
    output: { broadcast_id: exampleIds.message, next: ['Tell the team that the broadcast waits for them.'] },
  },
  run: async (deps, caller, { name: title, connection_id, variables = [], status, ...template }) => {
    const { connectionIds, workspaceId } = caller
    const connectionId = connection_id.toLowerCase()
    if (connectionIds.length > 0 && !connectionIds.includes(connectionId)) {
      throw forbidden('This key cannot use the connection')
    }
    if (!caller.may('leads.read')) throw forbidden('This key needs leads.read to choose leads')
    const { id } = await deps.prepareBroadcast(
      { workspaceId, actor: actorOf(caller) },
      {
        ...{ name: title.trim(), connectionId, variables, filter: status === undefined ? {} : { status } },
        template: { name: template.template_name, language: template.template_language },
      },
    )
    return { broadcast_id: id, next: ['Tell the team that the broadcast waits for them.'] }
  },
})
