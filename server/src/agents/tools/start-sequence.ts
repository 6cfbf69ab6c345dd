import { Type } from 'typebox'
import { forbidden, invalid } from '../../base/errors.ts'
import { text, uuid } from '../../base/schema-types.ts'
import { defineTool, idempotentChange, input, output } from '../define-tool.ts'
import { waitForWork } from '../presenters/conversation.ts'
import { exampleIds } from '../presenters/examples.ts'
import { actorOf, scopeOf } from '../presenters/viewer.ts'

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
