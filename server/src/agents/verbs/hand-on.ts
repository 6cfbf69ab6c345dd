import { Type } from 'typebox'
import { nullable, oneOf } from '../../base/route.ts'
import { text, uuid, visible } from '../../base/schema-types.ts'
import { urgencies } from '../../inbox/conversation/owner.ts'
import { handToAgent, takeOffered } from '../../inbox/ownership/hand-on.ts'
import { handOver } from '../../inbox/ownership/hand-over.ts'
import { AgentConversation, nextWith, showOne, waitForWork } from '../shown/conversation.ts'
import { exampleIds, shownConversation } from '../shown/examples.ts'
import { actorOf, scopeOf, senderOf } from '../shown/sight.ts'
import { maxReason, maxSummary } from '../shown/words.ts'
import { whenPeopleCome } from '../shown/workspace.ts'
import { defineVerb, input, output, sets } from '../verb.ts'
import { sayWhose } from './answer.ts'

const yours = uuid()
const said = (maxLength: number, description: string, example: string) =>
  text(maxLength, description, { minLength: 1, pattern: visible, example })
const summary = said(maxSummary, 'What has happened.', 'Wants the money back for order 1042.')
const reason = Type.Optional(said(maxReason, 'Why you hand it on.', 'Refunds need a person.'))
const nextStep = Type.Optional(said(maxReason, 'What is to be done.', 'Check the payment.'))
const urgency = Type.Optional(oneOf(urgencies, { description: 'Default `normal`.' }))

const wasNew = Type.Boolean({ description: 'False: an earlier call had handed it over so.' })

const handedOver = {
  ...shownConversation,
  owner: 'people' as const,
  owner_key_id: null,
  owner_name: null,
  waiting_since: null,
  handed_over: { urgency: 'high' as const, reason: 'Refunds need a person.', at: '2026-03-01T12:01:00.000Z' },
}

export const handOverToPeople = defineVerb({
  name: 'hand_over',
  title: 'Hand over to people',
  description:
    'Gives people a conversation that is yours, with what they must know. Do it when you may not decide, do not know, or the customer asks for a person. `closing` is sent to the customer first, such as that a colleague will help. From then on leave the conversation alone.',
  scopes: ['inbox.write'],
  http: { method: 'POST', path: '/conversations/:conversation_id/hand-over' },
  input: input({
    conversation_id: yours,
    summary,
    reason,
    next_step: nextStep,
    urgency,
    assigned_to: Type.Optional(uuid('Member, from list_people. Left out: the team.')),
    closing: Type.Optional(said(4000, 'Sent to the customer first.', 'A colleague will help you with this.')),
  }),
  output: output('HandedOver', {
    conversation: AgentConversation,
    closing: nullable(
      oneOf(['sent', 'failed', 'unknown'] as const, {
        description: '`unknown`: the platform has not said yet. Null: nothing was to be sent by this call.',
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
    output: { conversation: handedOver, closing: 'sent', was_new: true, next: ['Take no more part in it.'] },
  },
  run: async (deps, caller, asked) => {
    const id = asked.conversation_id.toLowerCase()
    const { conversation, closing, isRepeat } = await handOver(deps.inbox, senderOf(caller), {
      conversationId: id,
      words: wordsOf(asked),
      urgency: asked.urgency ?? 'normal',
      userId: asked.assigned_to?.toLowerCase() ?? null,
      closing: asked.closing ?? null,
    }).catch((error) => sayWhose(deps, caller, id, error))
    return {
      conversation: await showOne(deps, caller, conversation),
      closing,
      was_new: !isRepeat,
      next: [
        ...(closing === 'failed' ? ['The customer did not get the closing words: people will see that.'] : []),
        'Take no more part in it: you will be told when it is yours again.',
        ...whenPeopleCome(caller.workspace.hours, deps.inbox.clock.now()),
        waitForWork,
      ],
    }
  },
})

export const handToOtherAgent = defineVerb({
  name: 'hand_to_agent',
  title: 'Hand to another agent',
  description:
    'Gives another agent a conversation that is yours, with what it must know. Only when that agent is better at what the customer needs.',
  scopes: ['inbox.write'],
  http: { method: 'POST', path: '/conversations/:conversation_id/hand-to-agent' },
  input: input({
    conversation_id: yours,
    key_id: uuid("The other agent's key, from list_people."),
    summary,
    reason,
    next_step: nextStep,
    urgency,
  }),
  output: output('HandedToAgent', { conversation: AgentConversation, was_new: wasNew }),
  hints: sets,
  example: {
    input: {
      conversation_id: exampleIds.conversation,
      key_id: exampleIds.label,
      summary: 'Asks for a quote of 20 units.',
    },
    output: {
      conversation: { ...shownConversation, owner: 'another_agent', owner_key_id: exampleIds.label },
      was_new: true,
      next: ['Take no more part in it.'],
    },
  },
  run: async (deps, caller, asked) => {
    const { conversation, isRepeat } = await handToAgent(deps.inbox, scopeOf(caller), actorOf(caller), {
      conversationId: asked.conversation_id.toLowerCase(),
      keyId: asked.key_id.toLowerCase(),
      words: wordsOf(asked),
      urgency: asked.urgency ?? 'normal',
    })
    const next = ['Take no more part in it: you will be told when it is yours again.', waitForWork]
    return { conversation: await showOne(deps, caller, conversation), was_new: !isRepeat, next }
  },
})

export const takeWhatIsOffered = defineVerb({
  name: 'take_offered',
  title: 'Take what is offered',
  description:
    'Makes a conversation yours that nobody answers: one that people offer to agents, or that has no owner among them yet (`may_take`). What people hold, or another agent has, is refused: leave it alone.',
  scopes: ['inbox.write'],
  http: { method: 'POST', path: '/conversations/:conversation_id/take' },
  input: input({ conversation_id: uuid() }),
  output: output('Taken', { conversation: AgentConversation }),
  hints: sets,
  example: {
    input: { conversation_id: exampleIds.conversation },
    output: { conversation: shownConversation, next: ['The customer waits for you. Call answer with a text.'] },
  },
  run: async (deps, caller, { conversation_id }) => {
    const conversation = await takeOffered(deps.inbox, scopeOf(caller), caller.keyId, conversation_id.toLowerCase())
    return {
      conversation: await showOne(deps, caller, conversation),
      next: nextWith(conversation, caller.keyId, true, deps.inbox.clock.now()),
    }
  },
})

interface Said {
  summary: string
  reason?: string
  next_step?: string
}

const wordsOf = ({ summary: happened, reason: why = '', next_step: then = '' }: Said) => ({
  summary: happened,
  reason: why.trim() === '' ? null : why,
  nextStep: then.trim() === '' ? null : then,
})
