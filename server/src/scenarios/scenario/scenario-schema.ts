import { type Static, type TProperties, Type } from 'typebox'
import { nullable, oneOf } from '../../base/route.ts'
import { text } from '../../base/schema-types.ts'
import { closed } from '../../team/team-schema.ts'

/** Longest text of a scenario, in characters. */
export const maxScenarioText = 32_768
export const maxSteps = 50

const object = <P extends TProperties>(fields: P, description?: string) =>
  Type.Object(fields, { ...closed, ...(description !== undefined && { description }) })
const flag = (description: string) => Type.Optional(Type.Boolean({ description }))
const phrase = Type.String({ minLength: 1, maxLength: 300 })
const phrases = (description: string) => Type.Optional(Type.Array(phrase, { minItems: 1, maxItems: 20, description }))
const words = (maxLength: number, description: string) => Type.String({ minLength: 1, maxLength, description })
const wholeFrom = (minimum: number, maximum: number, description: string) =>
  Type.Optional(Type.Integer({ minimum, maximum, description }))
const anyFields = (description: string) => Type.Unsafe<Record<string, unknown>>({ type: 'object', description })

export const scenarioName = Type.String({
  pattern: '^[a-z0-9][a-z0-9-]{0,79}$',
  maxLength: 80,
  description: 'Name in small letters, digits and hyphens; unique in the workspace.',
  example: 'refund-wanted',
})

const template = object({
  name: Type.String({ pattern: '^[a-z0-9_]{1,512}$', maxLength: 512, description: 'Its name.' }),
  language: Type.String({ pattern: '^[a-z]{2,3}(_[A-Z]{2})?$', maxLength: 6, description: 'Such as en_US.' }),
  category: Type.Optional(oneOf(['UTILITY', 'MARKETING'] as const, { description: 'Default: UTILITY.' })),
  body: words(1024, 'Its text, with {{1}}, {{2}} … for values.'),
})

/** What holds for all conversations of a sandbox: scenarios that share it share a sandbox. */
const sandbox = object(
  {
    open: Type.Optional(
      nullable(Type.Boolean({ description: 'Whether it is within the business hours. Null: none are set (default).' })),
    ),
    own: flag(
      'Shares it with no other scenario. Then also calls that name no customer belong to it, such as start_conversation.',
    ),
    instructions: Type.Optional(text(4000, "The team's instructions for agents.")),
    maskPhones: flag('The agent sees phone numbers masked.'),
    approval: Type.Optional(
      oneOf(['always', 'first_answers', 'outside_hours'] as const, {
        description: 'Which answers a person must approve. Default: none.',
      }),
    ),
    quietSeconds: wholeFrom(0, 30, 'Silence after which messages become work. Default: 1.'),
    maxParts: wholeFrom(1, 10, 'Into how many messages one text may be cut. Default: 1.'),
    unansweredSends: wholeFrom(1, 50, "Messages since the customer's last one. Default: 3."),
    labels: Type.Optional(Type.Array(words(50, 'A label.'), { maxItems: 20, description: 'Labels of the workspace.' })),
    leadStatuses: Type.Optional(
      Type.Array(Type.String({ pattern: '^[a-z0-9_]{1,50}$', maxLength: 50 }), {
        minItems: 1,
        maxItems: 50,
        description: 'Statuses of leads.',
      }),
    ),
    templates: Type.Optional(Type.Array(template, { maxItems: 10, description: 'Approved templates.' })),
  },
  'What holds for the whole workspace.',
)
export type SandboxSettings = Static<typeof sandbox>

const start = object(
  {
    customer: Type.Optional(words(100, 'Name of the customer.')),
    lead: Type.Optional(anyFields('Fields of the lead with the phone of the customer, as in the Leads API.')),
    otherLeads: Type.Optional(
      Type.Array(anyFields('Fields of a lead.'), { maxItems: 5, description: 'Leads of other customers.' }),
    ),
    history: Type.Optional(
      Type.Array(Type.Unsafe<{ customer: string } | { team: string }>({ type: 'object' }), {
        maxItems: 20,
        description:
          'Messages from before, each `{"customer": "…"}` or `{"team": "…"}`. People had the conversation, and hand it to the agent.',
      }),
    ),
    handBack: Type.Optional(
      object(
        { summary: words(2000, 'What has happened.'), nextStep: Type.Optional(words(1000, 'What to do next.')) },
        'The note with which people hand the history to the agent.',
      ),
    ),
  },
  'What exists before the script.',
)

/** The kinds of steps, by the field that tells them apart. A text is a message of the customer. */
export const stepKinds = {
  customer: object({
    customer: Type.Array(words(4096, 'A message.'), {
      minItems: 1,
      maxItems: 10,
      description: 'Messages of the customer in a row.',
    }),
    secondsBetween: Type.Optional(Type.Number({ minimum: 0, maximum: 60, description: 'Default: 0.' })),
  }),
  send: object({
    send: oneOf(['image', 'video', 'audio', 'voice', 'document', 'sticker', 'location', 'contacts'] as const, {
      description: 'The customer sends a sample of this kind.',
    }),
    caption: Type.Optional(words(1000, 'Text of an image, a video or a document.')),
  }),
  press: object({ press: words(100, 'The customer chooses the option with this title.') }),
  pause: object({ pause: Type.Number({ minimum: 0, maximum: 300, description: 'Seconds until the next step.' }) }),
  marketing: object({
    marketing: oneOf(['stop', 'resume'] as const, {
      description: 'The customer stops marketing messages in the chat application, or resumes them.',
    }),
  }),
  team: object({
    team: oneOf(['takes_over', 'hands_back', 'approves', 'rejects'] as const, {
      description: 'What a person does with the conversation, or with the draft of the agent.',
    }),
    says: Type.Optional(words(4096, 'With `takes_over`: writes this to the customer. With `approves`: sends this.')),
    summary: Type.Optional(words(2000, 'With `hands_back`: what has happened.')),
    nextStep: Type.Optional(words(1000, 'With `hands_back`: what to do next. With `rejects`: why.')),
  }),
}
export type Step = string | { [K in keyof typeof stepKinds]: Static<(typeof stepKinds)[K]> }[keyof typeof stepKinds]

const range = (description: string) =>
  Type.Optional(
    object(
      { atLeast: wholeFrom(0, 1000, 'Default: 0.'), atMost: wholeFrom(0, 1000, 'Default: no limit.') },
      description,
    ),
  )

/** What is expected of a handover. */
export const handoverSchema = object({
  urgency: Type.Optional(oneOf(['normal', 'high'] as const, { description: 'How urgent it is.' })),
  reason: phrases('Phrases in the reason.'),
  summary: phrases('Phrases in the summary.'),
})

const expect = object(
  {
    handedOver: Type.Optional(
      Type.Unsafe<boolean | Static<typeof handoverSchema>>({
        description: 'Whether the agent hands over to people; or an object with urgency, reason and summary.',
      }),
    ),
    answers: flag('Whether the agent writes to the customer.'),
    tools: Type.Optional(
      Type.Array(
        object({
          tool: words(100, 'Name of the tool.'),
          with: Type.Optional(anyFields('Arguments, of which texts are phrases.')),
          atLeast: wholeFrom(0, 1000, 'Default: 1.'),
          atMost: wholeFrom(0, 1000, 'Default: no limit.'),
        }),
        { maxItems: 20, description: 'Tools that are called with success.' },
      ),
    ),
    toolsNotCalled: phrases('Tools that are not even tried.'),
    says: phrases('Phrases, all of which the agent says. Case, accents and spaces do not matter.'),
    saysOneOf: phrases('Phrases, one of which the agent says.'),
    neverSays: phrases('Phrases that the agent does not say.'),
    language: Type.Optional(oneOf(['en', 'pt', 'es'] as const, { description: 'Language in which it answers.' })),
    messages: range('Number of messages of the agent.'),
    drafts: range('Number of drafts that the agent proposes.'),
    notes: phrases('Phrases in the notes of the agent.'),
    answeredWithinSeconds: Type.Optional(
      Type.Number({ minimum: 0.1, maximum: 600, description: 'From the last message of a turn to the reaction.' }),
    ),
    costAtMost: Type.Optional(
      Type.Number({ minimum: 0, maximum: 1e6, description: 'Cost of the messages, by `prices`.' }),
    ),
    prices: Type.Optional(
      Type.Record(Type.String({ pattern: '^[a-z_]{1,40}$' }), Type.Number({ minimum: 0, maximum: 1000 }), {
        description: 'Price of a message by category. Default: service 0.01, utility 0.01, marketing 0.06.',
      }),
    ),
    lead: Type.Optional(
      Type.Unsafe<Record<string, unknown> | null>({
        type: ['object', 'null'],
        description: 'Fields of the lead afterwards; null: there is none.',
      }),
    ),
    conversation: Type.Optional(
      object(
        {
          status: Type.Optional(
            oneOf(['open', 'pending', 'snoozed', 'resolved', 'closed'] as const, { description: 'Its status.' }),
          ),
          owner: Type.Optional(oneOf(['agent', 'people'] as const, { description: 'Who has it.' })),
          labels: Type.Optional(
            Type.Array(words(50, 'A label.'), { maxItems: 20, description: 'Labels that it has, among others.' }),
          ),
          optedOut: flag('Whether the customer has opted out of marketing messages.'),
        },
        'The conversation afterwards.',
      ),
    ),
    leavesPeopleAlone: flag('Nothing is sent or tried in a conversation that people have.'),
    hidesPhone: flag('Nothing that the agent received contains the complete number of the customer.'),
    judge: Type.Optional(
      object(
        {
          criteria: words(2000, 'What a good answer does.'),
          minimumScore: wholeFrom(0, 10, 'Fails below it. Default: the score decides nothing.'),
        },
        'A model scores the conversation from 0 to 10, if one is configured.',
      ),
    ),
  },
  'What must be true afterwards.',
)
export type Expectations = Static<typeof expect>

/** A scenario; its steps are checked by their kinds. */
export const scenarioSchema = Type.Object(
  {
    $schema: Type.Optional(text(500, 'Address of the JSON Schema, for editors.')),
    name: scenarioName,
    title: words(150, 'What happens, in a few words.'),
    about: Type.Optional(text(1000, 'Why it matters.')),
    tags: Type.Optional(
      Type.Array(Type.String({ pattern: '^[a-z0-9-]{1,40}$', maxLength: 40 }), {
        maxItems: 10,
        description: 'Topics.',
      }),
    ),
    sandbox: Type.Optional(sandbox),
    start: Type.Optional(start),
    script: Type.Array(Type.Unsafe<Step>({}), {
      minItems: 1,
      maxItems: maxSteps,
      description:
        'What happens, in order. After each turn of the customer, the next step waits until the agent has reacted.',
    }),
    expect,
  },
  { ...closed, title: 'Scenario', description: 'A script of a customer, and what is expected of the agent.' },
)
export type Scenario = Static<typeof scenarioSchema>

/** Returns the JSON Schema of scenario files, for editors. */
export function publishedSchema(): object {
  const { script, expect: outcome, ...fields } = scenarioSchema.properties
  const handedOver = { anyOf: [{ type: 'boolean' }, handoverSchema] }
  const step = { anyOf: [{ type: 'string', maxLength: 4096 }, ...Object.values(stepKinds)] }
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    ...scenarioSchema,
    properties: {
      ...fields,
      script: { ...script, items: step },
      expect: { ...outcome, properties: { ...outcome.properties, handedOver } },
    },
  }
}
