import { Type } from 'typebox'
import { nullable, oneOf } from '../../base/route.ts'
import { text, uuid, visiblePattern } from '../../base/schema-types.ts'
import { handOver } from '../../inbox/assignment/hand-over.ts'
import { takeOffered, transferToAgent } from '../../inbox/assignment/transfer-to-agent.ts'
import { urgencies } from '../../inbox/conversation/owner.ts'
import { defineTool, idempotentChange, input, output } from '../define-tool.ts'
import { AgentConversation, nextStepsFor, presentOne, waitForWork } from '../presenters/conversation.ts'
import { exampleConversation, exampleIds } from '../presenters/examples.ts'
import { maxReason, maxSummary } from '../presenters/notes-and-handovers.ts'
import { actorOf, scopeOf, senderOf } from '../presenters/viewer.ts'
import { availabilityNote } from '../presenters/workspace.ts'
import { explainOwnership } from './answer.ts'

const ownConversation = uuid()
const noteField = (maxLength: number, description: string, example: string) =>
  text(maxLength, description, { minLength: 1, pattern: visiblePattern, example })
const summary = noteField(maxSummary, 'What has happened.', 'Wants the money back for order 1042.')
const reason = Type.Optional(noteField(maxReason, 'Why you hand it over.', 'Refunds need a person.'))
const nextStep = Type.Optional(noteField(maxReason, 'What to do next.', 'Check the payment.'))
const urgency = Type.Optional(oneOf(urgencies, { description: 'Default `normal`.' }))

const wasNew = Type.Boolean({ description: 'False: an earlier call handed it over.' })

const exampleHandedOver = {
  ...exampleConversation,
  owner: 'people' as const,
  owner_key_id: null,
  owner_name: null,
  waiting_since: null,
  handed_over: { urgency: 'high' as const, reason: 'Refunds need a person.', at: '2026-03-01T12:01:00.000Z' },
}

export const handOverToPeople = defineTool({
  name: 'hand_over',
  title: 'Hand over to people',
  description:
    'Hands a conversation of yours over to people: you are not allowed to decide, do not know the answer, or the customer asks for a person. `closing` is sent to the customer first, for example that a colleague will help. Leave it alone afterwards.',
  scopes: ['inbox.write'],
  http: { method: 'POST', path: '/conversations/:conversation_id/hand-over' },
  input: input({
    conversation_id: ownConversation,
    summary,
    reason,
    next_step: nextStep,
    urgency,
    assigned_to: Type.Optional(uuid('Member, from list_people. Default: the team.')),
    closing: Type.Optional(noteField(4000, 'Sent to the customer first.', 'A colleague will help you with this.')),
  }),
  output: output('HandedOver', {
    conversation: AgentConversation,
    closing: nullable(
      oneOf(['sent', 'failed', 'unknown'] as const, {
        description: '`unknown`: the platform has not responded yet. Null: this call sent nothing.',
      }),
    ),
    was_new: wasNew,
  }),
  hints: { isReadOnly: false, isDestructive: true, isIdempotent: true },
  example: {
    input: {
      conversation_id: exampleIds.conversation,
      summary: 'Wants the money back for order 1042.',
      reason: 'Refunds need a person.',
      urgency: 'high',
      closing: 'A colleague will help you with this.',
    },
    output: {
      conversation: exampleHandedOver,
      closing: 'sent',
      was_new: true,
      next: ['Leave this conversation alone.'],
    },
  },
  run: async (deps, caller, args) => {
    const id = args.conversation_id.toLowerCase()
    const { conversation, closing, isRepeat } = await handOver(deps.inbox, senderOf(caller), {
      conversationId: id,
      note: noteOf(args),
      urgency: args.urgency ?? 'normal',
      userId: args.assigned_to?.toLowerCase() ?? null,
      closing: args.closing ?? null,
    }).catch((error) => explainOwnership(deps, caller, id, error))
    return {
      conversation: await presentOne(deps, caller, conversation),
      closing,
      was_new: !isRepeat,
      next: [
        ...(closing === 'failed' ? ['The customer did not get the closing message: people will see that.'] : []),
        'Leave this conversation alone: wait_for_work returns it when it is yours again.',
        ...availabilityNote(caller.workspace.hours, deps.inbox.clock.now()),
        waitForWork,
      ],
    }
  },
})

export const transferToOtherAgent = defineTool({
  name: 'hand_to_agent',
  title: 'Hand to another agent',
  description: 'Hands a conversation of yours over to another agent that is better suited to help.',
  scopes: ['inbox.write'],
  http: { method: 'POST', path: '/conversations/:conversation_id/hand-to-agent' },
  input: input({
    conversation_id: ownConversation,
    key_id: uuid("The other agent's key, from list_people."),
    summary,
    reason,
    next_step: nextStep,
    urgency,
  }),
  output: output('HandedToAgent', { conversation: AgentConversation, was_new: wasNew }),
  hints: idempotentChange,
  example: {
    input: {
      conversation_id: exampleIds.conversation,
      key_id: exampleIds.label,
      summary: 'Asks for a quote of 20 units.',
    },
    output: {
      conversation: { ...exampleConversation, owner: 'another_agent', owner_key_id: exampleIds.label },
      was_new: true,
      next: ['Leave this conversation alone.'],
    },
  },
  run: async (deps, caller, args) => {
    const { conversation, isRepeat } = await transferToAgent(deps.inbox, scopeOf(caller), actorOf(caller), {
      conversationId: args.conversation_id.toLowerCase(),
      keyId: args.key_id.toLowerCase(),
      note: noteOf(args),
      urgency: args.urgency ?? 'normal',
    })
    const next = ['Leave this conversation alone: wait_for_work returns it when it is yours again.', waitForWork]
    return { conversation: await presentOne(deps, caller, conversation), was_new: !isRepeat, next }
  },
})

export const takeOfferedConversation = defineTool({
  name: 'take_offered',
  title: 'Take an offered conversation',
  description:
    'Makes an unowned conversation yours: one that people offer to agents, or that nobody has taken yet (`may_take`). Fails for those of people or of another agent: leave them alone.',
  scopes: ['inbox.write'],
  http: { method: 'POST', path: '/conversations/:conversation_id/take' },
  input: input({ conversation_id: uuid() }),
  output: output('Taken', { conversation: AgentConversation }),
  hints: idempotentChange,
  example: {
    input: { conversation_id: exampleIds.conversation },
    output: { conversation: exampleConversation, next: ['The customer is waiting. Call answer with a text.'] },
  },
  run: async (deps, caller, { conversation_id }) => {
    const conversation = await takeOffered(deps.inbox, scopeOf(caller), caller.keyId, conversation_id.toLowerCase())
    return {
      conversation: await presentOne(deps, caller, conversation),
      next: nextStepsFor(conversation, caller.keyId, true, deps.inbox.clock.now()),
    }
  },
})

interface HandoverInput {
  summary: string
  reason?: string
  next_step?: string
}

const noteOf = ({ summary: happened, reason: why = '', next_step: then = '' }: HandoverInput) => ({
  summary: happened,
  reason: why.trim() === '' ? null : why,
  nextStep: then.trim() === '' ? null : then,
})
