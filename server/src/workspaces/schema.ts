import { type Static, Type } from 'typebox'
import { nullable, oneOf, timestamp, titled } from '../base/route.ts'
import { leadStatus, visible } from '../base/schema-types.ts'
import type { Weekday } from '../team/opening-hours.ts'
import { closed, idSchema, roleSchema } from '../team/team-schema.ts'

const name = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: visible,
  description: 'The name that members see.',
  example: 'Acme Sales',
})
const defaultCountry = nullable(
  Type.String({
    pattern: '^[A-Z]{2}$',
    maxLength: 2,
    description:
      'ISO 3166-1 country that has a numbering plan: national phone numbers are read as numbers of it. Null: only international ones.',
    example: 'BR',
  }),
)
const currency = nullable(
  Type.String({
    pattern: '^[A-Z]{3}$',
    maxLength: 3,
    description:
      'ISO 4217 currency of all amounts of leads: the web app shows and reads them in it. The numbers stay what they are when it changes. Null: they are bare numbers.',
    example: 'BRL',
  }),
)
const dailyLeadQuota = Type.Integer({
  minimum: 0,
  maximum: 2_000_000_000,
  description: 'New leads per UTC day, up to `dailyLeadQuotaCeiling`; 0 is unlimited, where the ceiling is.',
  example: 100_000,
})
const dailyLeadQuotaCeiling = Type.Integer({
  minimum: 0,
  maximum: 2_000_000_000,
  description:
    'The most that admins may set as `dailyLeadQuota`; 0 is unlimited. For operators: their quota lifts it along, and a lower ceiling brings the quota down.',
  example: 100_000,
})
const leadStatuses = Type.Array(leadStatus('1 to 50 of a-z, 0-9 and _.'), {
  minItems: 1,
  maxItems: 50,
  description: 'The statuses that the web app offers, in order. The API takes any token of this form.',
  example: ['new', 'contacted', 'qualified', 'won', 'lost'],
})
const leadsEnabled = Type.Boolean({ description: 'Whether the plan includes leads.', example: true })
const inboxEnabled = Type.Boolean({ description: 'Whether the plan includes the inbox.', example: true })
const inboxAvailable = Type.Boolean({ description: 'Whether the inbox is open at the moment.', example: true })

const agentWatchdogMinutes = nullable(
  Type.Integer({
    minimum: 1,
    maximum: 10_080,
    description:
      'After so many minutes without an answer an agent loses a conversation to people; 5 in a new workspace. Null: never.',
    example: 5,
  }),
)
const agentsStopped = Type.Boolean({
  description: 'The stop switch: while true no agent owns or gets a conversation. Turning it on hands all to people.',
  example: false,
})
/** Whether an agent may take back what people have: at any time, or only what they hand over. */
export type TakingBack = Static<typeof agentsMayTakeBack>
const agentsMayTakeBack = oneOf(['always', 'when_handed'], {
  description:
    'Whether a key may take a conversation back that people have, by `PATCH`: `always`, or `when_handed`: only what they handed to it or offered. The interface for agents is always as `when_handed`.',
  example: 'always',
})
const answerGoalMinutes = nullable(
  Type.Integer({
    minimum: 1,
    maximum: 10_080,
    description:
      'After so many minutes without an answer people are told that a customer waits, while somebody is there by `hours`; 15 in a new workspace. Null: never.',
    example: 15,
  }),
)
const agentWord = nullable(
  Type.String({
    minLength: 1,
    maxLength: 4000,
    pattern: visible,
    description:
      'What agents are to know and how they are to speak, as plain text: who_am_i of their interface shows it. Null: nothing.',
    example: 'You speak for a shoe shop. Be brief and warm. Never promise a discount.',
  }),
)
const timeOfDay = (pattern: string, description: string, example: string) =>
  Type.String({ pattern, maxLength: 5, description, example })
const spans = Type.Array(
  Type.Object(
    {
      from: timeOfDay('^([01][0-9]|2[0-3]):[0-5][0-9]$', 'The first minute.', '09:00'),
      to: timeOfDay('^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$', 'The end; `24:00` is midnight.', '18:00'),
    },
    { ...closed, title: 'OpeningSpan' },
  ),
  { maxItems: 4, description: 'In order, and not overlapping. Empty: nobody is there.' },
)
const week = Type.Object(
  {
    monday: spans,
    tuesday: spans,
    wednesday: spans,
    thursday: spans,
    friday: spans,
    saturday: spans,
    sunday: spans,
  } satisfies Record<Weekday, typeof spans>,
  { ...closed, title: 'OpeningWeek' },
)
const timeZone = Type.String({
  pattern: '^[A-Za-z][A-Za-z0-9_+/-]*$',
  maxLength: 64,
  description: 'The IANA name of the time zone that the times are of.',
  example: 'America/Sao_Paulo',
})
const hours = nullable(
  Type.Object(
    { timeZone, week },
    {
      ...closed,
      description: 'When people of the team are there: agents are told. Null: the workspace says nothing of it.',
    },
  ),
)
const leadsFromChat = Type.Boolean({
  description: 'Whether a customer who writes and is no lead becomes one.',
  example: false,
})
const keepFormerTexts = Type.Boolean({
  description:
    'Whether the team goes on seeing what a message said before its author edited or withdrew it. Once false, nothing more is kept of it.',
  example: true,
})
const days = (description: string) => nullable(Type.Integer({ minimum: 30, maximum: 3650, description, example: 365 }))
const retentionDays = {
  conversationsDays: days(
    'Conversations whose last message is older are erased whole, with their messages and notes. Null: kept.',
  ),
  activitiesDays: days('Lines that conversations show of changes. Null: kept as long as the conversation.'),
  sendsDays: days(
    'Records by which a repeated Idempotency-Key is known; a repeat after that sends again. Null: kept as long as the message.',
  ),
  submissionsDays: days('Notes of which form made which lead; the leads stay. Null: kept as long as the lead.'),
  auditDays: days('The audit log. Null: kept.'),
}
const retention = Type.Object(retentionDays, {
  description: 'For how many days the workspace keeps what. What is older is removed within the hour.',
})
export type Retention = Static<typeof retention>
const retentionPatch = Type.Partial(Type.Object(retentionDays), {
  ...closed,
  minProperties: 1,
  description: 'For how many days the workspace keeps what; what is not named stays as it is.',
})
const plan = {
  defaultCountry,
  currency,
  dailyLeadQuota,
  dailyLeadQuotaCeiling,
  leadStatuses,
  leadsEnabled,
  inboxEnabled,
  inboxAvailable,
  agentWatchdogMinutes,
  agentsStopped,
  agentsMayTakeBack,
  agentWord,
  hours,
  answerGoalMinutes,
  leadsFromChat,
  keepFormerTexts,
}
const settings = Type.Object({ name, ...plan })
export type WorkspaceSettings = Static<typeof settings>

export const workspaceSchema = titled('Workspace', {
  id: idSchema('The workspace.'),
  name,
  role: Type.Optional(roleSchema),
  ...plan,
  retention,
  createdAt: timestamp('When it was made.'),
  updatedAt: timestamp('When its settings last changed.'),
})

export const newWorkspaceSchema = Type.Object(
  {
    name,
    defaultCountry: Type.Optional(defaultCountry),
    dailyLeadQuota: Type.Optional(dailyLeadQuota),
    dailyLeadQuotaCeiling: Type.Optional(dailyLeadQuotaCeiling),
  },
  closed,
)

export const workspacePatchSchema = Type.Partial(Type.Object({ ...settings.properties, retention: retentionPatch }), {
  ...closed,
  minProperties: 1,
})
export type WorkspacePatch = Static<typeof workspacePatchSchema>
