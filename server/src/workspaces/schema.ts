import { type Static, Type } from 'typebox'
import { nullable, oneOf, timestamp, titled } from '../base/route.ts'
import { leadStatus, visiblePattern } from '../base/schema-types.ts'
import { maxKeywordLength, maxKeywords } from '../base/text/keywords.ts'
import { closed, idSchema, roleSchema } from '../team/team-schema.ts'
import { optInEventNames } from './opt-in-events.ts'
import { awayMessageSchema, holidaysSchema, hoursSchema, serviceGoalsSchema } from './service/service-schema.ts'

const name = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: visiblePattern,
  description: 'Name that members see.',
  example: 'Acme Sales',
})
const defaultCountry = nullable(
  Type.String({
    pattern: '^[A-Z]{2}$',
    maxLength: 2,
    description:
      'ISO 3166-1 code of a country with a numbering plan. National phone numbers are parsed as numbers of this country. Null: only international numbers are accepted.',
    example: 'BR',
  }),
)
const currency = nullable(
  Type.String({
    pattern: '^[A-Z]{3}$',
    maxLength: 3,
    description:
      'ISO 4217 currency of all lead amounts in the web app. Changing it does not convert amounts. Null: amounts have no currency.',
    example: 'BRL',
  }),
)
const dailyLeadQuota = Type.Integer({
  minimum: 0,
  maximum: 2_000_000_000,
  description:
    'Maximum number of new leads per UTC day, up to `dailyLeadQuotaCeiling`. 0 is unlimited and requires an unlimited ceiling.',
  example: 100_000,
})
const dailyLeadQuotaCeiling = Type.Integer({
  minimum: 0,
  maximum: 2_000_000_000,
  description:
    'Maximum that admins can set as `dailyLeadQuota`; 0 is unlimited. Only operators can change it. A higher quota set by an operator also raises the ceiling, and a lower ceiling also lowers the quota.',
  example: 100_000,
})
const leadStatuses = Type.Array(leadStatus('1 to 50 of a-z, 0-9 and _.'), {
  minItems: 1,
  maxItems: 50,
  description: 'Statuses that the web app offers, in order. The API accepts any status of this format.',
  example: ['new', 'contacted', 'qualified', 'won', 'lost'],
})
const leadsEnabled = Type.Boolean({ description: 'Whether the plan includes leads.', example: true })
const inboxEnabled = Type.Boolean({ description: 'Whether the plan includes the inbox.', example: true })
const inboxAvailable = Type.Boolean({ description: 'Whether the inbox is currently open.', example: true })

const agentWatchdogMinutes = nullable(
  Type.Integer({
    minimum: 1,
    maximum: 10_080,
    description:
      'Minutes without an answer after which a conversation is returned from an agent to people. Default 5. Null: never.',
    example: 5,
  }),
)
const agentsStopped = Type.Boolean({
  description:
    'Stops all agents: while true, no agent owns or gets a conversation. Setting it returns all conversations to people.',
  example: false,
})
/** Whether an agent can reclaim conversations from people: always, or only those that they hand over. */
export type ReclaimPolicy = Static<typeof agentsMayTakeBack>
const agentsMayTakeBack = oneOf(['always', 'when_handed'], {
  description:
    'Whether a key can take over conversations from people by `PATCH`: `always`, or `when_handed`, only those that people handed over or offered to it. The interface for agents always uses `when_handed`.',
  example: 'always',
})
const answerGoalMinutes = nullable(
  Type.Integer({
    minimum: 1,
    maximum: 10_080,
    description:
      'Minutes without an answer after which people are notified that a customer waits, during business hours (`hours`). Default 15. Null: never.',
    example: 15,
  }),
)
const agentWord = nullable(
  Type.String({
    minLength: 1,
    maxLength: 4000,
    pattern: visiblePattern,
    description:
      'Instructions for agents: facts and tone of voice, as plain text. Agents read them with who_am_i. Null: none.',
    example: 'You speak for a shoe shop. Be brief and warm. Never promise a discount.',
  }),
)
const agentMaxParts = Type.Integer({
  minimum: 1,
  maximum: 10,
  description:
    'Maximum number of messages into which the interface for agents may cut one text, for keys without a `maxParts` of their own. The platform charges each part.',
  example: 1,
})
const hours = hoursSchema('Business hours of the team, which agents can see. Null: not set.')
const leadsFromChat = Type.Boolean({
  description: 'Whether a lead is created for each customer who writes and has none.',
  example: false,
})
const keywords = (description: string, example: string[]) =>
  Type.Array(Type.String({ minLength: 1, maxLength: maxKeywordLength, pattern: visiblePattern }), {
    maxItems: maxKeywords,
    description: `${description} Case, accents, spaces and punctuation don't matter.`,
    example,
  })
const optOutKeywords = keywords('A customer whose message is one of these opts out of marketing messages.', [
  'STOP',
  'SAIR',
])
const optInKeywords = keywords('A customer who has opted out opts in again with a message that is one of these.', [
  'START',
  'VOLTAR',
])
const feedEvents = Type.Array(
  oneOf(optInEventNames, { title: 'OptInEventName', description: 'An event that must be asked for.' }),
  {
    maxItems: optInEventNames.length,
    uniqueItems: true,
    description:
      'Events that are recorded for `GET /api/v1/events` from now on, in addition to those that are always recorded and those that webhook endpoints name. A reader must name them too.',
    example: ['conversation.assigned'],
  },
)
const keepFormerTexts = Type.Boolean({
  description:
    'Whether the team can see previous versions of messages that their authors edited or deleted. While false, no previous versions are stored.',
  example: true,
})
const days = (description: string) => nullable(Type.Integer({ minimum: 30, maximum: 3650, description, example: 365 }))
const retentionDays = {
  conversationsDays: days(
    'Conversations, by the age of the last message; erased with their messages and notes. Null: kept.',
  ),
  activitiesDays: days('Records of changes shown in conversations. Null: kept as long as the conversation.'),
  sendsDays: days(
    'Send idempotency records. After that, repeating an Idempotency-Key sends again. Null: kept as long as the message.',
  ),
  submissionsDays: days('Form submissions; leads are not deleted. Null: kept as long as the lead.'),
  auditDays: days('Audit log. Null: kept.'),
}
const retention = Type.Object(retentionDays, {
  description: 'Retention in days. Older data is removed within an hour.',
})
export type Retention = Static<typeof retention>
const retentionPatch = Type.Partial(Type.Object(retentionDays), {
  ...closed,
  minProperties: 1,
  description: 'Retention in days. Omitted fields do not change.',
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
  agentMaxParts,
  hours,
  answerGoalMinutes,
  leadsFromChat,
  optOutKeywords,
  optInKeywords,
  keepFormerTexts,
  feedEvents,
  holidays: holidaysSchema,
  awayMessage: awayMessageSchema,
  serviceGoals: serviceGoalsSchema,
}
const settings = Type.Object({ name, ...plan })
export type WorkspaceSettings = Static<typeof settings>
export const settingNames = Object.keys(settings.properties)

export const workspaceSchema = titled('Workspace', {
  id: idSchema('The workspace.'),
  name,
  role: Type.Optional(roleSchema),
  ...plan,
  retention,
  createdAt: timestamp('Creation time.'),
  updatedAt: timestamp('Time of the last change of its settings.'),
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
