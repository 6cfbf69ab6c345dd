import { type Static, Type } from 'typebox'
import { nullable, oneOf, timestamp } from '../base/route.ts'
import { text, uuid, visiblePattern } from '../base/schema-types.ts'
import { conversationStatuses } from '../inbox/conversation/conversation-state.ts'
import { closed, idSchema } from '../team/team-schema.ts'
import { priorities } from '../workspaces/service/service-settings.ts'

/** What starts a rule: events, and at the end waits that nothing ended. */
export const triggers = [
  'message_received',
  'conversation_created',
  'owner_changed',
  'assignee_changed',
  'status_changed',
  'label_added',
  'message_failed',
  'lead_created',
  'lead_updated',
  'lead_status_changed',
  'no_team_answer',
  'no_customer_answer',
  'status_unchanged',
] as const
export type Trigger = (typeof triggers)[number]

export const isWait = (trigger: Trigger): boolean =>
  trigger === 'no_team_answer' || trigger === 'no_customer_answer' || trigger === 'status_unchanged'

export const conditionFields = [
  'connection',
  'channel',
  'language',
  'status',
  'label',
  'added_label',
  'owner',
  'assignee',
  'team',
  'priority',
  'hours',
  'message_kind',
  'message_text',
  'template',
  'actor',
  'lead_status',
  'lead_source',
  'lead_value',
  'lead_field',
] as const
export type ConditionField = (typeof conditionFields)[number]

export const operators = ['any_of', 'none_of', 'at_least', 'at_most'] as const

export const actionKinds = [
  'add_labels',
  'remove_labels',
  'assign',
  'assign_team',
  'to_people',
  'to_agent',
  'set_status',
  'set_priority',
  'add_note',
  'reply',
  'send_template',
  'set_lead_field',
  'send_webhook',
  'send_request',
  'start_sequence',
  'wait',
] as const
export type ActionKind = (typeof actionKinds)[number]

/** Lead fields that an action can set; others have their own rules. */
export const leadFields = ['status', 'priority', 'assignedTo', 'custom'] as const

export const limits = { conditions: 20, values: 50, actions: 10, rules: 1000, macros: 100, waitMinutes: 7 * 1440 }

export const Condition = Type.Object(
  {
    field: oneOf(conditionFields, {
      description:
        'What is compared. `added_label`: labels that the event added. `actor`: who caused the event. `hours`: the business hours of its team or the workspace. `language`: the most common one of the country of the customer’s number.',
      example: 'message_text',
    }),
    operator: oneOf(operators, {
      description:
        '`any_of` and `none_of` compare with `values`; `message_text` then contains one of these words, or none. `at_least` and `at_most` are for `lead_value`.',
      example: 'any_of',
    }),
    values: Type.Array(text(255, 'A value.', { minLength: 1 }), {
      minItems: 1,
      maxItems: limits.values,
      description:
        'Ids of connections, labels, keys, members or teams; statuses; words. `owner` also has `people` and `agents`; `assignee` has `nobody`, `team` and `priority` have `none`; `hours` has `open` and `closed`; `language` has codes such as `en` and `pt`; `actor` has `customer`, `person`, `agent`, `automation` and `system`.',
      example: ['price', 'how much'],
    }),
    key: Type.Optional(text(40, 'With `lead_field`: the key of the custom field.', { minLength: 1, example: 'city' })),
  },
  { ...closed, title: 'AutomationCondition' },
)
export type Condition = Static<typeof Condition>

const words = (maxLength: number, description: string, example: string) =>
  Type.String({ minLength: 1, maxLength, pattern: visiblePattern, description, example })

export const Action = Type.Object(
  {
    kind: oneOf(actionKinds, { description: 'What it does. The other fields depend on it.', example: 'add_labels' }),
    labelIds: Type.Optional(
      Type.Array(idSchema('A label.'), { minItems: 1, maxItems: 20, description: '`add_labels`, `remove_labels`.' }),
    ),
    userId: Type.Optional(nullable(uuid('`assign`: the member; null: unassign.'))),
    teamId: Type.Optional(nullable(uuid('`assign_team`: the team; null: none.'))),
    keyId: Type.Optional(uuid('`to_agent`: the key that gets the conversation.')),
    status: Type.Optional(oneOf(conversationStatuses, { description: '`set_status`: the new status.' })),
    priority: Type.Optional(nullable(oneOf(priorities, { description: '`set_priority`: the priority; null: none.' }))),
    minutes: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: limits.waitMinutes,
        description: '`wait`: before the next action; `set_status` with `snoozed`: until it reopens.',
        example: 60,
      }),
    ),
    endsIfCustomerWrites: Type.Optional(
      Type.Boolean({ description: '`wait`: leaves the rest out if the customer writes meanwhile.' }),
    ),
    text: Type.Optional(
      words(
        4096,
        '`add_note`, `reply`: the text. A reply may contain `{{contact.name}}`, `{{contact.first_name}}` and `{{workspace.name}}`.',
        'Hi {{contact.first_name}}, we are back at 9.',
      ),
    ),
    cannedReplyId: Type.Optional(uuid('`reply`: a canned reply, in place of a text.')),
    isAnswer: Type.Optional(
      Type.Boolean({
        description:
          '`reply`, `send_template`: whether it ends the customer’s wait; default: the customer still waits.',
      }),
    ),
    template: Type.Optional(
      Type.Object(
        {
          name: text(512, 'Template name.', { minLength: 1, example: 'follow_up' }),
          language: text(20, 'Its language.', { minLength: 2, example: 'en_US' }),
          parameters: Type.Optional(
            Type.Array(
              words(1024, 'A value; may contain the same placeholders as a reply.', '{{contact.first_name}}'),
              {
                maxItems: 100,
                description: 'Values of `{{1}}`, … in order.',
              },
            ),
          ),
        },
        { ...closed, title: 'AutomationTemplate', description: '`send_template`: an approved template.' },
      ),
    ),
    field: Type.Optional(oneOf(leadFields, { description: '`set_lead_field`: the field.' })),
    key: Type.Optional(text(40, '`set_lead_field` with `custom`: key of the field.', { minLength: 1 })),
    value: Type.Optional(nullable(text(255, '`set_lead_field`: the value; null clears it.', { example: 'contacted' }))),
    endpointId: Type.Optional(
      uuid(
        '`send_webhook`: the endpoint that gets the event. `send_request`: the endpoint to whose address the rule, the conversation and the lead are sent, signed as its webhooks are, until it answers 2xx.',
      ),
    ),
    sequenceId: Type.Optional(uuid('`start_sequence`: the sequence, for the lead.')),
  },
  { ...closed, title: 'AutomationAction' },
)
export type Action = Static<typeof Action>

const name = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: visiblePattern,
  description: 'Name that the team sees.',
  example: 'Reply after hours',
})
const actions = Type.Array(Action, { minItems: 1, maxItems: limits.actions, description: 'In order.' })

export const ruleFields = {
  name,
  trigger: oneOf(triggers, { description: 'What starts it.', example: 'message_received' }),
  afterMinutes: nullable(
    Type.Integer({
      minimum: 1,
      maximum: 30 * 1440,
      description:
        '`no_team_answer`, `no_customer_answer`, `status_unchanged`: after this time. Null for other triggers.',
    }),
  ),
  conditions: Type.Array(Condition, { maxItems: limits.conditions, description: 'All must hold.' }),
  actions,
  stops: Type.Boolean({ description: 'Whether rules after it are left out for an event that it acts on.' }),
  followsRules: Type.Boolean({ description: 'Whether what rules did starts it, three times in a row at most.' }),
}

export const RuleDraft = Type.Object(ruleFields, { ...closed, title: 'AutomationRuleDraft' })
export type RuleDraft = Static<typeof RuleDraft>

export const RuleChange = Type.Partial(
  Type.Object({ ...ruleFields, enabled: Type.Boolean({ description: 'Whether it is on.' }) }),
  { ...closed, minProperties: 1 },
)
export type RuleChange = Static<typeof RuleChange>

export const RuleSchema = Type.Object(
  {
    id: idSchema('The rule.'),
    ...ruleFields,
    enabled: Type.Boolean({ description: 'Whether it is on.' }),
    problems: Type.Array(text(200, 'What it names and no longer exists, such as `actions[0].keyId`.'), {
      maxItems: 100,
      description: 'Labels, members, teams, keys, canned replies and endpoints that are gone.',
    }),
    createdAt: timestamp('Creation time.'),
    updatedAt: timestamp('Time of the last change.'),
  },
  { title: 'AutomationRule' },
)

export const MacroDraft = Type.Object({ name, actions }, { ...closed, title: 'MacroDraft' })
export type MacroDraft = Static<typeof MacroDraft>

export const MacroSchema = Type.Object(
  {
    id: idSchema('The macro.'),
    name,
    actions,
    createdAt: timestamp('Creation time.'),
    updatedAt: timestamp('Time of the last change.'),
  },
  { title: 'Macro' },
)
