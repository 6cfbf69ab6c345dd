import { type Static, Type } from 'typebox'
import { nullable, oneOf, timestamp, titled } from '../base/route.ts'
import { count, leadStatus, text, uuid, visiblePattern } from '../base/schema-types.ts'
import { TemplateToStart } from '../inbox/send/send-schema.ts'
import { closed, idSchema } from '../team/team-schema.ts'
import { endReasons, entries } from './run-rules.ts'

export const limits = { sequences: 100, steps: 10, waitMinutes: 90 * 1440, activeRuns: 100_000, entriesOfKind: 20 }

/** Leads that one request adds; more are added by a bulk change. */
const maxLeads = 500

export const Step = Type.Object(
  {
    waitMinutes: Type.Integer({
      minimum: 0,
      maximum: limits.waitMinutes,
      description: 'How long after the start, or the step before, it is due; only the first can be due at once.',
      example: 2880,
    }),
    businessHours: Type.Boolean({
      description: 'Whether a step that is due while the business is closed waits until it opens.',
    }),
    template: Type.Optional(TemplateToStart),
    text: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 4096,
        pattern: visiblePattern,
        description: 'In place of a template. It is skipped unless the customer has written within 24 hours.',
        example: 'Hi {{contact.first_name|there}}, did you see our offer?',
      }),
    ),
  },
  { ...closed, title: 'SequenceStep' },
)
export type Step = Static<typeof Step>

const draftFields = {
  name: Type.String({
    minLength: 1,
    maxLength: 100,
    pattern: visiblePattern,
    description: 'Name that the team sees.',
    example: 'New lead, seven days',
  }),
  connectionId: idSchema('The connection that sends.'),
  steps: Type.Array(Step, {
    minItems: 1,
    maxItems: limits.steps,
    description:
      'In order. Texts, and values of templates, may contain `{{contact.name}}`, `{{contact.first_name}}`, `{{contact.email}}`, `{{workspace.name}}` and `{{field.<key>}}` for a custom field, each with words for when it is empty: `{{contact.first_name|there}}`.',
  }),
  endStatuses: Type.Array(leadStatus('A status of leads.'), {
    maxItems: 50,
    description: 'Statuses of the lead that end its run.',
    example: ['won', 'lost'],
  }),
  formIds: Type.Array(idSchema('A form.'), {
    maxItems: limits.entriesOfKind,
    description: 'Forms that start it for the lead of each submission.',
  }),
  labelIds: Type.Array(idSchema('A label.'), {
    maxItems: limits.entriesOfKind,
    description: 'Labels that start it when people add them to a lead.',
  }),
  forAgents: Type.Boolean({ description: 'Whether agents may start it.' }),
}

export const SequenceDraft = Type.Object(draftFields, { ...closed, title: 'SequenceDraft' })
export type SequenceDraft = Static<typeof SequenceDraft>

export const SequenceChange = Type.Partial(
  Type.Object({ ...draftFields, enabled: Type.Boolean({ description: 'Whether it is on. Off ends all its runs.' }) }),
  { ...closed, minProperties: 1, title: 'SequenceChange' },
)
export type SequenceChange = Static<typeof SequenceChange>

export const SequenceSchema = titled('Sequence', {
  id: idSchema('The sequence.'),
  ...draftFields,
  enabled: Type.Boolean({ description: 'Whether it is on.' }),
  version: count('Counts changes of its connection and steps. A run keeps those with which it began.', { example: 1 }),
  activeRuns: count('How many leads are in it now.', { example: 42 }),
  problems: Type.Array(text(200, 'Field, such as `steps[0].template.name`.'), {
    maxItems: 100,
    description: 'What it names and cannot be sent or no longer exists; it cannot be switched on with any.',
  }),
  createdAt: timestamp('Creation time.'),
  updatedAt: timestamp('Time of the last change.'),
})

export const SequenceList = Type.Object({
  sequences: Type.Array(SequenceSchema, { maxItems: limits.sequences, description: 'By name.' }),
})
export const OneSequence = Type.Object({ sequence: SequenceSchema })

const reason = oneOf(endReasons, {
  title: 'SequenceEndReason',
  description:
    '`finished`: no step was left. `answered`: the customer wrote. `opted_out`; `status`: the lead has one of the statuses. `taken_over`: a person wrote, or people took the conversation. `stopped`: by a person. `off`: the sequence was switched off or deleted. `not_delivered`: two messages in a row. `no_phone`, `lead_gone`: it was deleted or merged.',
})

export const NewRuns = Type.Object(
  {
    leadIds: Type.Array(idSchema('A lead.'), {
      minItems: 1,
      maxItems: maxLeads,
      description: `At most ${maxLeads}; a bulk change of leads adds more.`,
    }),
  },
  { ...closed, title: 'NewSequenceRuns' },
)

export const RunsStarted = titled('SequenceRunsStarted', {
  started: Type.Array(idSchema('A lead.'), { maxItems: maxLeads, description: 'Leads that it was started for.' }),
  running: Type.Array(idSchema('A lead.'), { maxItems: maxLeads, description: 'Leads that are in it already.' }),
  refused: Type.Array(idSchema('A lead.'), {
    maxItems: maxLeads,
    description: 'Leads that do not exist, have no phone, or a status that ends it.',
  }),
})

export const RunSchema = titled('SequenceRun', {
  id: idSchema('The run.'),
  sequence: titled('SequenceName', { id: idSchema('The sequence.'), name: text(100, 'Its name.') }),
  lead: titled('SequenceLead', {
    id: idSchema('The lead.'),
    name: nullable(text(511, 'Its name; null if it was deleted.')),
  }),
  conversationId: nullable(idSchema('The conversation; null before the first message.')),
  state: oneOf(['active', 'ended'] as const, { description: 'Whether it goes on.' }),
  reason: nullable(reason),
  step: count('How many steps were done.', { example: 1 }),
  steps: count('How many there are.', { example: 4 }),
  dueAt: nullable(timestamp('When the next step is due.')),
  heldBy: nullable(
    text(60, 'Why a step that is due waits, such as `CONNECTION_UNAVAILABLE`. It is tried again for a day.', {
      example: 'BUDGET_REACHED',
    }),
  ),
  isSending: Type.Boolean({ description: 'Whether a message is on its way.' }),
  done: Type.Array(
    titled('SequenceRunStep', {
      step: count('Position of the step.'),
      state: oneOf(['sending', 'sent', 'failed', 'skipped'] as const, { description: 'What became of it.' }),
      code: nullable(text(100, 'Why it was skipped, or not delivered.', { example: 'WINDOW_CLOSED' })),
      messageId: nullable(uuid('Its message.')),
      at: timestamp('When.'),
    }),
    { maxItems: limits.steps, description: 'Steps that were done.' },
  ),
  entry: oneOf(entries, { description: 'How it began.' }),
  createdAt: timestamp('When it began.'),
  endedAt: nullable(timestamp('When it ended.')),
})

/** Runs of one page. */
export const runPage = 50

export const RunList = Type.Object({
  runs: Type.Array(RunSchema, { maxItems: runPage, description: 'Newest first.' }),
  before: nullable(idSchema('Value for `before` of the next page; null at the end.')),
})

export const SequenceCounts = titled('SequenceCounts', {
  version: count('The version that is counted.', { example: 1 }),
  started: count('Runs that began with it.'),
  active: count('Of these, runs that go on.'),
  steps: Type.Array(
    titled('SequenceStepCounts', {
      reached: count('Runs in which it was due.'),
      sent: count('Messages that were sent.'),
      failed: count('Messages that were not delivered.'),
      skipped: count('Runs in which it was left out.'),
      answered: count('Runs that ended after it because the customer answered.'),
    }),
    { maxItems: limits.steps, description: 'In order.' },
  ),
  ended: Type.Array(titled('SequenceEnds', { reason, count: count('How many runs ended so.') }), {
    maxItems: endReasons.length,
    description: 'Most frequent first.',
  }),
})
