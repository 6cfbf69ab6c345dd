import type { Action, Condition, Rule, RuleDraft } from '../../data/team/automation.ts'
import { t } from '../../text/index.ts'

export type Field = Condition['field']
export type Kind = Action['kind']
export type Trigger = RuleDraft['trigger']

export const triggers = [
  ...(['message_received', 'conversation_created', 'no_team_answer', 'no_customer_answer'] as const),
  ...(['status_changed', 'status_unchanged', 'label_added', 'owner_changed', 'assignee_changed'] as const),
  ...(['message_failed', 'lead_created', 'lead_updated', 'lead_status_changed'] as const),
] as const satisfies readonly Trigger[]

export const isWait = (trigger: Trigger): boolean =>
  trigger === 'no_team_answer' || trigger === 'no_customer_answer' || trigger === 'status_unchanged'

const ofMessage: readonly Field[] = ['message_text', 'message_kind']
const ofConversation: readonly Field[] = [
  ...(['hours', 'connection', 'channel', 'language', 'status', 'label', 'owner', 'assignee'] as const),
  ...(['team', 'priority'] as const),
]
const ofLead: readonly Field[] = ['lead_status', 'lead_source', 'lead_value', 'lead_field']

/** Returns what a rule with this trigger can look at. */
export function fieldsFor(trigger: Trigger): Field[] {
  return [
    ...(trigger === 'message_received' || trigger === 'conversation_created' ? ofMessage : []),
    ...(trigger === 'label_added' ? (['added_label'] as const) : []),
    ...(trigger === 'message_failed' ? (['template'] as const) : []),
    ...ofConversation,
    ...(isWait(trigger) ? [] : (['actor'] as const)),
    ...ofLead,
  ]
}

const all: readonly Kind[] = [
  ...(['reply', 'send_template', 'add_labels', 'remove_labels', 'assign', 'assign_team'] as const),
  ...(['to_people', 'to_agent', 'set_status', 'set_priority', 'add_note', 'set_lead_field', 'start_sequence'] as const),
]
const withoutEvent: readonly Trigger[] = ['status_changed', 'label_added', 'assignee_changed']

/** Returns what a rule with this trigger can do; null: a macro. */
export const kindsFor = (trigger: Trigger | null): Kind[] => [
  ...all,
  ...(trigger === null ? [] : (['wait', 'send_request'] as const)),
  ...(trigger === null || isWait(trigger) || withoutEvent.includes(trigger) ? [] : (['send_webhook'] as const)),
]

export const newCondition = (field: Field): Condition => ({
  field,
  operator: field === 'lead_value' ? 'at_least' : 'any_of',
  values: field === 'hours' ? ['closed'] : [],
  ...(field === 'lead_field' && { key: '' }),
})

const newValues: Partial<Record<Kind, Omit<Action, 'kind'>>> = {
  add_labels: { labelIds: [] },
  remove_labels: { labelIds: [] },
  assign: { userId: null },
  assign_team: { teamId: null },
  to_agent: { keyId: '' },
  set_status: { status: 'pending' },
  set_priority: { priority: 'high' },
  add_note: { text: '' },
  reply: { text: '' },
  send_template: { template: { name: '', language: '', parameters: [] } },
  set_lead_field: { field: 'status', value: 'contacted' },
  send_webhook: { endpointId: '' },
  send_request: { endpointId: '' },
  start_sequence: { sequenceId: '' },
  wait: { minutes: 60, endsIfCustomerWrites: true },
}

export const newAction = (kind: Kind): Action => ({ kind, ...newValues[kind] })

export const emptyRule: RuleDraft = {
  ...{ name: '', trigger: 'message_received', afterMinutes: null, conditions: [], actions: [newAction('reply')] },
  ...{ stops: false, followsRules: false },
}

export const draftOf = ({
  name,
  trigger,
  afterMinutes,
  conditions,
  actions,
  stops,
  followsRules,
}: Rule): RuleDraft => ({
  ...{ name, trigger, afterMinutes, conditions, actions, stops, followsRules },
})

/** Rules to begin with, in the language of the app. */
export function exampleRules(): RuleDraft[] {
  const { examples } = t.settings.automation
  return [
    {
      ...emptyRule,
      name: examples.closed,
      conditions: [{ field: 'hours', operator: 'any_of', values: ['closed'] }],
      actions: [{ kind: 'reply', text: examples.closedText }],
    },
    {
      ...emptyRule,
      name: examples.price,
      conditions: [{ field: 'message_text', operator: 'any_of', values: examples.priceWords.split(', ') }],
      actions: [{ kind: 'set_priority', priority: 'high' }, { kind: 'to_people' }],
    },
    {
      ...emptyRule,
      name: examples.silent,
      trigger: 'status_unchanged',
      afterMinutes: 3 * 1440,
      conditions: [{ field: 'status', operator: 'any_of', values: ['pending'] }],
      actions: [{ kind: 'set_status', status: 'resolved' }],
    },
  ]
}
