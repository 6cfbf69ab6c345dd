import { foldText, isUnspaced } from '../base/text/search-text.ts'
import type { Conversation } from '../inbox/conversation/conversation.ts'
import { keyIdOf } from '../inbox/conversation/owner.ts'
import type { Lead } from '../leads/lead/lead.ts'
import type { Action, Condition, ConditionField, RuleDraft, Trigger } from './rule-schema.ts'

// Pure rules: what an event is compared with, and what the actions would make of it.

export const causes = ['customer', 'person', 'agent', 'automation', 'system'] as const
export type Cause = (typeof causes)[number]

/** What the conditions of rules look at; null for what an event has nothing to do with. */
export interface Facts {
  cause: Cause | null
  conversation: Pick<
    Conversation,
    'connectionId' | 'channel' | 'status' | 'labelIds' | 'owner' | 'assignedTo' | 'teamId' | 'priority' | 'inbound'
  > | null
  lead: Pick<Lead, 'status' | 'source' | 'estimatedValue' | 'customFields'> | null
  /** Folded by `foldForWords`. */
  message: { kind: string; words: string } | null
  template: string | null
  /** The most common language of the customer's country, such as `pt`. */
  language: string | null
  addedLabelIds: readonly string[] | null
  isOpen: boolean
}

/** A condition with what is compared in the form of the facts. */
interface Compiled extends Omit<Condition, 'values'> {
  values: ReadonlySet<string>
  numbers: readonly number[]
}

export interface Rule extends RuleDraft {
  id: string
  enabled: boolean
  version: number
  enabledAt: Date | null
  createdAt: Date
  updatedAt: Date
}

export interface CompiledRule {
  rule: Rule
  compiled: readonly Compiled[]
}

/** Longer texts are compared by their beginning. */
const maxCompared = 10_000
const notInWords = /[^\p{L}\p{N}]+/gu

/** Returns the words of a text in the form of the search, with a space around each. */
export function foldForWords(text: string): string {
  return ` ${foldText(text.slice(0, maxCompared)).replace(notInWords, ' ').trim()} `
}

export const compileRule = (rule: Rule): CompiledRule => ({ rule, compiled: compileConditions(rule.conditions) })

export const compileConditions = (conditions: readonly Condition[]): Compiled[] =>
  conditions.map(({ values, ...condition }) => ({
    ...condition,
    values: new Set(values.map((value) => comparedAs(condition.field, value))),
    numbers: values.map(Number),
  }))

function comparedAs(field: ConditionField, value: string): string {
  if (field === 'message_text') {
    const words = foldForWords(value)
    // Languages without spaces have no borders of words.
    return isUnspaced(words) ? words.trim() : words
  }
  if (field === 'lead_field') return foldText(value)
  return field === 'template' ? value : value.toLowerCase()
}

/** Fields that an event has for good. All others can change until a rule acts. */
const fixedFields: ReadonlySet<ConditionField> = new Set([
  ...(['connection', 'channel', 'language', 'added_label', 'message_kind', 'message_text', 'template'] as const),
  'actor',
])

/** Fields of a conversation that say nothing while only the lead is locked. */
const conversationFields: ReadonlySet<ConditionField> = new Set([
  ...(['status', 'label', 'owner', 'assignee', 'team', 'priority'] as const),
])

/** Fields that an action changes: conditions on them no longer say anything once it has. */
const changedFields: Partial<Record<Action['kind'], readonly ConditionField[]>> = {
  add_labels: ['label'],
  remove_labels: ['label'],
  assign: ['assignee', 'owner'],
  assign_team: ['team', 'assignee', 'owner'],
  to_people: ['owner', 'assignee'],
  to_agent: ['owner', 'assignee'],
  set_status: ['status'],
  set_priority: ['priority'],
  set_lead_field: ['lead_status', 'lead_source', 'lead_value', 'lead_field'],
}

/** Returns the positions of the conditions that do not hold. */
export const unmetConditions = ({ compiled }: Pick<CompiledRule, 'compiled'>, facts: Facts): number[] =>
  compiled.flatMap((condition, place) => (holds(condition, facts) ? [] : [place]))

/** Returns whether the rule may act on an event, by what is known before anything is read for it. */
export const mayConcern = ({ compiled }: CompiledRule, facts: Facts): boolean =>
  compiled.every((condition) => !isKnownFirst(condition.field, facts) || holds(condition, facts))

function isKnownFirst(field: ConditionField, { cause }: Facts): boolean {
  if (field === 'actor') return cause !== null
  return field === 'message_text' || field === 'message_kind' || field === 'added_label'
}

/**
 * Returns the first condition that no longer holds right before an action; null if the rule may act. Leaves out what
 * cannot change, and what the rule's own earlier actions have changed.
 */
export function unmetBefore({ rule, compiled }: CompiledRule, step: number, facts: Facts): number | null {
  const ownFields = new Set(rule.actions.slice(0, step).flatMap(({ kind }) => changedFields[kind] ?? []))
  const isKnown = (field: ConditionField) =>
    !fixedFields.has(field) && !ownFields.has(field) && (facts.conversation !== null || !conversationFields.has(field))
  const place = compiled.findIndex((condition) => isKnown(condition.field) && !holds(condition, facts))
  return place === -1 ? null : place
}

/** Whether the conditions of a rule need the lead. */
export const readsLead = ({ compiled }: Pick<CompiledRule, 'compiled'>): boolean =>
  compiled.some(({ field }) => field.startsWith('lead_'))

function holds(condition: Compiled, facts: Facts): boolean {
  const { field, operator, values, numbers } = condition
  if (field === 'lead_value') {
    const value = facts.lead?.estimatedValue ?? null
    const [limit = 0] = numbers
    return value !== null && (operator === 'at_least' ? value >= limit : value <= limit)
  }
  const isAny =
    field === 'message_text'
      ? facts.message !== null && containsAny(facts.message.words, values)
      : actualValues(condition, facts).some((actual) => values.has(actual))
  return operator === 'none_of' ? !isAny : isAny
}

function containsAny(words: string, values: ReadonlySet<string>): boolean {
  for (const value of values) if (words.includes(value)) return true
  return false
}

const one = (value: string | null | undefined): string[] => (value == null ? [] : [value])

function actualValues({ field, key }: Compiled, facts: Facts): readonly string[] {
  const { conversation, lead, message } = facts
  switch (field) {
    case 'connection':
      return one(conversation?.connectionId)
    case 'channel':
      return one(conversation?.channel)
    case 'status':
      return one(conversation?.status)
    case 'label':
      return conversation?.labelIds ?? []
    case 'added_label':
      return facts.addedLabelIds ?? []
    case 'owner':
      return conversation === null ? [] : ownersOf(conversation)
    case 'assignee':
      return conversation === null ? [] : [conversation.assignedTo ?? 'nobody']
    case 'team':
      return conversation === null ? [] : [conversation.teamId ?? 'none']
    case 'priority':
      return conversation === null ? [] : [conversation.priority ?? 'none']
    case 'hours':
      return [facts.isOpen ? 'open' : 'closed']
    case 'message_kind':
      return one(message?.kind)
    case 'language':
      return one(facts.language)
    case 'template':
      return one(facts.template)
    case 'actor':
      return one(facts.cause)
    case 'lead_status':
      return one(lead?.status)
    case 'lead_source':
      return one(lead?.source)
    case 'lead_field':
      return customValues(lead, key)
    default:
      return []
  }
}

const ownersOf = ({ owner }: NonNullable<Facts['conversation']>): string[] => {
  const keyId = keyIdOf(owner)
  return keyId === null ? ['people'] : ['agents', keyId]
}

function customValues(lead: Facts['lead'], key: string | undefined): string[] {
  const found = lead?.customFields.find((field) => field.key === key)
  if (found === undefined) return []
  const text = foldText(String(found.value))
  // The values of a multiselect are separated by commas.
  return found.type === 'multiselect' ? text.split(',').map((part) => part.trim()) : [text]
}

/** Returns the facts after the actions up to the first wait, which later rules then see. */
export function afterActions(facts: Facts, actions: readonly Action[]): Facts {
  const firstWait = actions.findIndex(({ kind }) => kind === 'wait')
  return actions.slice(0, firstWait === -1 ? actions.length : firstWait).reduce(afterAction, facts)
}

function afterAction(facts: Facts, action: Action): Facts {
  const { conversation, lead } = facts
  if (action.kind === 'set_lead_field') {
    if (lead === null || action.field !== 'status') return facts
    return { ...facts, lead: { ...lead, status: action.value ?? lead.status } }
  }
  if (conversation === null) return facts
  const {
    labelIds = [],
    userId = null,
    teamId = null,
    keyId = '',
    status = conversation.status,
    priority = null,
  } = action
  const changed = (change: Partial<typeof conversation>): Facts => ({
    ...facts,
    conversation: { ...conversation, ...change },
  })
  switch (action.kind) {
    case 'add_labels':
      return changed({ labelIds: [...new Set([...conversation.labelIds, ...labelIds])] })
    case 'remove_labels':
      return changed({ labelIds: conversation.labelIds.filter((id) => !labelIds.includes(id)) })
    case 'assign':
      return changed({ assignedTo: userId })
    case 'assign_team':
      return changed({ teamId })
    case 'to_people':
      return changed({ owner: { type: 'human' } })
    case 'to_agent':
      return changed({ owner: { type: 'agent', keyId } })
    case 'set_status':
      return changed({ status })
    case 'set_priority':
      return changed({ priority })
    default:
      return facts
  }
}

/** Rules by what starts them and, where they are limited to some, by connection. */
export interface RuleIndex {
  triggers: ReadonlySet<Trigger>
  /** In order. */
  rulesFor(trigger: Trigger, connectionId: string | null): readonly CompiledRule[]
  /** Those for all connections and for some. */
  all(trigger: Trigger): readonly CompiledRule[]
  readsLead: boolean
}

const everywhere = '*'

/** Compiles the rules that are on; they come in order. */
export function indexRules(rules: readonly Rule[]): RuleIndex {
  const compiled = rules.filter(({ enabled }) => enabled).map(compileRule)
  const places = new Map(compiled.map((one, place) => [one, place]))
  const byTrigger = Map.groupBy(compiled, ({ rule }) => rule.trigger)
  const byKey = Map.groupBy(
    compiled.flatMap((one) =>
      connectionsOf(one).map((connection) => ({ key: `${one.rule.trigger} ${connection}`, one })),
    ),
    ({ key }) => key,
  )
  const listed = (key: string) => (byKey.get(key) ?? []).map(({ one }) => one)
  const known = new Map<string, readonly CompiledRule[]>()
  return {
    triggers: new Set(byTrigger.keys()),
    rulesFor: (trigger, connectionId) => {
      const key = `${trigger} ${connectionId ?? ''}`
      const found =
        known.get(key) ??
        [...listed(`${trigger} ${everywhere}`), ...(connectionId === null ? [] : listed(key))].sort(
          (a, b) => (places.get(a) ?? 0) - (places.get(b) ?? 0),
        )
      known.set(key, found)
      return found
    },
    all: (trigger) => byTrigger.get(trigger) ?? [],
    readsLead: compiled.some(readsLead),
  }
}

function connectionsOf({ compiled }: CompiledRule): readonly string[] {
  const named = compiled.find(({ field, operator }) => field === 'connection' && operator === 'any_of')
  return named === undefined ? [everywhere] : [...named.values]
}

/** What rules decide about one event. */
export interface Decision {
  acting: readonly CompiledRule[]
  /** Rules that left it alone, with the first condition that did not hold. */
  unmet: readonly { rule: Rule; condition: number }[]
}

/** Judges the rules in order: each sees what those before it would do, until one stops. */
export function decide(rules: readonly CompiledRule[], found: Facts): Decision {
  const acting: CompiledRule[] = []
  const unmet: { rule: Rule; condition: number }[] = []
  let facts = found
  for (const one of rules) {
    const condition = one.compiled.findIndex((each) => !holds(each, facts))
    if (condition !== -1) {
      unmet.push({ rule: one.rule, condition })
      continue
    }
    acting.push(one)
    if (one.rule.stops) break
    facts = afterActions(facts, one.rule.actions)
  }
  return { acting, unmet }
}
