import { type Static, Type } from 'typebox'
import { nullable, oneOf, timestamp, titled } from '../base/route.ts'
import { count, text, uuid, visiblePattern } from '../base/schema-types.ts'
import { HeaderLocationSchema } from '../inbox/send/send-schema.ts'
import { listFilters } from '../leads/search/list-request.ts'
import { closed, idSchema, workspaceParams } from '../team/team-schema.ts'
import { broadcastStates } from './broadcast.ts'
import { leadVariables } from './variables.ts'

export const maxVariants = 3

const name = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: visiblePattern,
  description: 'For the team; customers do not see it.',
  example: 'Spring sale',
})

export const VariableSchema = Type.Object(
  {
    from: oneOf(['field', 'custom', 'text'] as const, {
      description: 'A field of the lead, a custom field, or the same text for everyone.',
    }),
    value: Type.String({
      minLength: 1,
      maxLength: 1000,
      description: `Name of the field (${leadVariables.join(', ')}), key of the custom field, or the text.`,
      example: 'firstName',
    }),
    fallback: Type.Optional(
      Type.String({
        maxLength: 255,
        description: 'For leads without the value. Without it they are left out.',
        example: 'there',
      }),
    ),
  },
  { ...closed, title: 'BroadcastVariable' },
)

const templateName = Type.String({ minLength: 1, maxLength: 512, example: 'order_update' })
const templateLanguage = Type.String({ minLength: 1, maxLength: 20, example: 'en_US' })

export const VariantSchema = Type.Object(
  {
    template: Type.Object(
      { name: templateName, language: templateLanguage },
      { ...closed, title: 'BroadcastTemplate' },
    ),
    weight: Type.Integer({
      minimum: 1,
      maximum: 100,
      description: 'Its share of the recipients, in relation to the other variants.',
      example: 1,
    }),
    body: Type.Array(VariableSchema, { maxItems: 100, description: 'For `{{1}}`, … of the body, in order.' }),
    header: nullable(VariableSchema),
    file: Type.Optional({
      ...nullable(VariableSchema),
      description:
        'For a template with a file: the https address from which the platform loads it, for all the same or from a custom field.',
    }),
    location: Type.Optional({ ...nullable(HeaderLocationSchema), description: 'For a template with a location.' }),
    buttons: Type.Array(VariableSchema, { maxItems: 10, description: 'For buttons with a value, in order.' }),
  },
  { ...closed, title: 'BroadcastVariant' },
)

const Options = Type.Object(
  {
    quietDays: Type.Integer({
      minimum: 0,
      maximum: 30,
      description: 'Leaves out customers who got a template in the last days; 0: nobody.',
      example: 3,
    }),
    optInOnly: Type.Boolean({
      description: 'Leaves out customers who have not opted in to marketing.',
      example: false,
    }),
    perMinute: nullable(
      Type.Integer({
        minimum: 1,
        maximum: 2400,
        description: 'At most as many messages a minute; null: half of what the number can send.',
      }),
    ),
  },
  { ...closed, title: 'BroadcastOptions' },
)

const Audience = Type.Object(
  {
    filter: Type.Object(listFilters, { ...closed, title: 'BroadcastFilter', description: 'As in the list of leads.' }),
    viewName: nullable(Type.String({ maxLength: 80, description: 'Name of the saved view that it comes from.' })),
  },
  { ...closed, title: 'BroadcastAudience' },
)

const variants = Type.Array(VariantSchema, {
  minItems: 1,
  maxItems: maxVariants,
  description: 'One, or up to three to compare. Who gets which is decided when the audience is counted.',
})

export const DraftSchema = Type.Object(
  { name, connectionId: uuid('Connection to send from.'), audience: Audience, variants, options: Options },
  { ...closed, title: 'BroadcastDraft' },
)

export const PreviewRequest = Type.Object(
  { connectionId: uuid('Connection of the templates.'), audience: Audience, variants },
  { ...closed, title: 'BroadcastPreviewRequest' },
)

export const Preview = titled('BroadcastPreview', {
  total: count('Leads that match the filter.', { example: 1200 }),
  rows: Type.Array(
    titled('BroadcastPreviewRow', {
      leadId: idSchema('The lead.'),
      name: text(511, 'Its name.', { example: 'Marina Duarte' }),
      texts: Type.Array(nullable(text(40_000, 'Filled body; null: the lead lacks a value and is left out.')), {
        maxItems: maxVariants,
        description: 'One for each variant.',
      }),
    }),
    { maxItems: 5, description: 'Some of them, newest first.' },
  ),
})

const amount = (description: string) => nullable(text(40, description, { example: '12.5' }))

const Counts = titled('BroadcastCounts', {
  leads: count('Leads of the audience.'),
  included: count('Who gets it.'),
  excluded: Type.Record(Type.String({ maxLength: 40 }), Type.Integer({ minimum: 0, maximum: 1_000_000 }), {
    description:
      'Who is left out, by the first reason that applies: `no_number`, `missing_value`, `opted_out`, `not_opted_in`, `country` (the platform delivers no marketing there), `recently_refused` (131049 in the last 24 hours), `recently_written`, `duplicate` (a number that is in it already), `over_budget`.',
    example: { opted_out: 12 },
  }),
})

const Cost = titled('BroadcastCost', {
  amount: amount('Exact decimal number of those with a price; null: none has.'),
  currency: nullable(text(3, 'ISO 4217.', { example: 'USD' })),
  unpriced: count('Messages without a price on the rate card: the amount does not contain them.'),
})

const ResultsSchema = titled('BroadcastResults', {
  at: timestamp('When they were read.'),
  variants: Type.Array(
    titled('BroadcastVariantResults', {
      pending: count('Who has got nothing yet.'),
      accepted: count('Accepted by the platform: sent, delivered or read.'),
      delivered: count('Delivered or read.'),
      read: count('Read.'),
      failed: count('Not delivered.'),
      skipped: count('Refused before they were sent, such as after an opt-out.'),
      answered: count('Recipients who wrote within 7 days.'),
      optedOut: count('Recipients who opted out within 7 days.'),
      charged: count('Messages that the platform charged.'),
      cost: amount('What it charged; null: unknown, or not for admins.'),
    }),
    { maxItems: maxVariants, description: 'In the order of the variants.' },
  ),
  reasons: Type.Array(
    titled('BroadcastReason', {
      status: oneOf(['failed', 'skipped', 'sending', 'sent', 'delivered', 'read', 'pending'] as const),
      reason: text(100, 'A word, or the code of the platform.', { example: '131049' }),
      count: count('Recipients.'),
    }),
    { maxItems: 50, description: 'Why recipients got nothing.' },
  ),
  cost: nullable(Cost),
})

const Person = titled('BroadcastPerson', {
  type: oneOf(['user', 'token', 'agent'] as const, { description: 'A member, a team token or an API key.' }),
  id: idSchema('Their id.'),
  name: nullable(text(200, 'Their name.', { example: 'Ana Lima' })),
})

export const BroadcastSchema = titled('Broadcast', {
  id: idSchema('The broadcast.'),
  name,
  state: oneOf(broadcastStates, {
    description:
      '`draft`; `collecting` while its audience is counted and frozen; `ready` to start; `awaiting_approval` of another admin; `scheduled`; `running`; `paused`; `done`; `cancelled`.',
  }),
  reason: nullable(
    text(
      40,
      'Of a paused one why it paused by itself; of a running one what it waits for (`messaging_limit`); of a draft why counting ended (`too_many`: over 100,000 leads; `filter`).',
    ),
  ),
  connection: titled('BroadcastConnection', {
    id: idSchema('The connection.'),
    name: nullable(text(200, 'Its name.')),
  }),
  audience: Audience,
  variants,
  options: Options,
  counts: nullable(Counts),
  cost: nullable(Cost),
  startAt: nullable(timestamp('When it starts.')),
  localAt: nullable(text(16, 'Local time of each recipient.', { example: '2026-12-01T09:00' })),
  createdBy: Person,
  startedBy: nullable(Person),
  approvedBy: nullable(Person),
  createdAt: timestamp('Creation time.'),
  startedAt: nullable(timestamp('When it started.')),
  endedAt: nullable(timestamp('When it ended.')),
  results: nullable(ResultsSchema),
})
export type PresentedBroadcast = Static<typeof BroadcastSchema>

export const OneBroadcast = Type.Object({ broadcast: BroadcastSchema })
export const BroadcastList = Type.Object({
  broadcasts: Type.Array(BroadcastSchema, { maxItems: 500, description: 'Newest first.' }),
  approval: Type.Boolean({ description: 'Whether a second person must approve broadcasts.' }),
})
export const Settings = Type.Object(
  { approval: Type.Boolean({ description: 'Whether a second person must approve broadcasts.', example: true }) },
  { ...closed, title: 'BroadcastSettings' },
)

export const StartRequest = Type.Object(
  {
    at: Type.Optional(nullable(timestamp('A time with an offset, within 30 days; absent: now.'))),
    localAt: Type.Optional(
      nullable(
        Type.String({
          maxLength: 16,
          pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}$',
          description:
            'Instead of `at`: the local time at which each recipient gets it, by the country of their number; where it has passed, or they cannot get it within four hours, on the next day.',
          example: '2026-12-01T09:00',
        }),
      ),
    ),
    timeZone: Type.Optional(
      Type.String({
        maxLength: 60,
        description: 'For recipients of an unknown country; default UTC.',
        example: 'America/Sao_Paulo',
      }),
    ),
  },
  { ...closed, title: 'BroadcastStart' },
)

export const TestRequest = Type.Object(
  {
    phone: Type.String({ minLength: 1, maxLength: 64, description: 'Your own number.', example: '+55 81 99123-4567' }),
    variant: Type.Optional(Type.Integer({ minimum: 0, maximum: maxVariants - 1, default: 0 })),
  },
  { ...closed, title: 'BroadcastTest' },
)

export const TestResult = titled('BroadcastTestResult', {
  status: oneOf(['sent', 'failed'] as const, { description: 'Immediate result from the platform.' }),
})

export const recipientStatuses = [
  'pending',
  'sending',
  'sent',
  'delivered',
  'read',
  'failed',
  'excluded',
  'skipped',
] as const

export const RecipientsQuery = Type.Object(
  {
    status: Type.Optional(oneOf(recipientStatuses, { description: 'Only these.' })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 50 })),
    after: Type.Optional(idSchema('`after` of the previous page.')),
  },
  closed,
)

export const Recipients = Type.Object({
  recipients: Type.Array(
    titled('BroadcastRecipient', {
      id: idSchema('The recipient.'),
      leadId: idSchema('The lead.'),
      name: nullable(text(511, 'Name of the lead; null if it was deleted.')),
      variant: count('Position of the variant.'),
      status: oneOf(recipientStatuses, {
        description: '`excluded` when the audience was counted, `skipped` when it was their turn.',
      }),
      reason: nullable(text(100, 'Why they got nothing.')),
      conversationId: nullable(idSchema('The conversation.')),
      sentAt: nullable(timestamp('When it was sent.')),
      answeredAt: nullable(timestamp('When they first wrote after it.')),
      optedOutAt: nullable(timestamp('When they opted out.')),
      cost: amount('What the platform charged, for admins.'),
    }),
    { maxItems: 100 },
  ),
  after: nullable(idSchema('For the next page; null at the end.')),
})

export const broadcastParams = Type.Object({ ...workspaceParams, broadcastId: idSchema('The broadcast.') })
