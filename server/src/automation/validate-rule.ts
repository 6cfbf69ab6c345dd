import type { Sql } from '../base/db.ts'
import { InvalidInput, type Issue } from '../base/errors.ts'
import { isUuid } from '../base/id.ts'
import { channels } from '../channels/connection/connection.ts'
import { conversationStatuses } from '../inbox/conversation/conversation-state.ts'
import { priorities as leadPriorities } from '../leads/lead/lead.ts'
import { priorities } from '../workspaces/service/service-settings.ts'
import { placeholders } from './fill-text.ts'
import { causes } from './judge.ts'
import { type Action, type ActionKind, type Condition, isWait, type RuleDraft } from './rule-schema.ts'

/** Something of the workspace that a rule names by its id. */
interface Reference {
  path: string
  kind: 'connection' | 'label' | 'member' | 'team' | 'key' | 'reply' | 'endpoint' | 'sequence'
  id: string
}

type OptionalField = Exclude<keyof Action, 'kind'>

/** Fields of each kind of action: those it needs, and those it may have. */
const actionFields: Record<ActionKind, { needs: readonly OptionalField[]; may?: readonly OptionalField[] }> = {
  add_labels: { needs: ['labelIds'] },
  remove_labels: { needs: ['labelIds'] },
  assign: { needs: ['userId'] },
  assign_team: { needs: ['teamId'] },
  to_people: { needs: [] },
  to_agent: { needs: ['keyId'] },
  set_status: { needs: ['status'], may: ['minutes'] },
  set_priority: { needs: ['priority'] },
  add_note: { needs: ['text'] },
  reply: { needs: [], may: ['text', 'cannedReplyId', 'isAnswer'] },
  send_template: { needs: ['template'], may: ['isAnswer'] },
  set_lead_field: { needs: ['field', 'value'], may: ['key'] },
  send_webhook: { needs: ['endpointId'] },
  send_request: { needs: ['endpointId'] },
  start_sequence: { needs: ['sequenceId'] },
  wait: { needs: ['minutes'], may: ['endsIfCustomerWrites'] },
}

/** Throws 400 with every field that is missing, does not belong to its kind, or names what does not exist. */
export async function validateRule(sql: Sql, workspaceId: string, rule: RuleDraft): Promise<void> {
  const issues = [
    ...triggerIssues(rule),
    ...rule.conditions.flatMap((condition, n) => conditionIssues(condition, `conditions[${n}]`)),
    ...actionListIssues(rule.actions),
    ...rule.actions.flatMap(({ kind }, n) =>
      kind === 'send_webhook' && !hasFeedEvent(rule)
        ? [{ path: `actions[${n}].kind`, message: 'send_webhook needs a trigger that is an event of the feed' }]
        : [],
    ),
  ]
  if (issues.length > 0) throw new InvalidInput(issues)
  await rejectMissing(sql, workspaceId, referencesOf(rule))
}

/** Does the same for the actions of a macro, which runs at once and has no event. */
export async function validateMacro(sql: Sql, workspaceId: string, actions: readonly Action[]): Promise<void> {
  const issues = actionListIssues(actions)
  for (const [n, { kind }] of actions.entries()) {
    if (kind === 'wait' || kind === 'send_webhook' || kind === 'send_request')
      issues.push({ path: `actions[${n}].kind`, message: `must not be ${kind} in a macro` })
  }
  if (issues.length > 0) throw new InvalidInput(issues)
  await rejectMissing(sql, workspaceId, referencesOf({ conditions: [], actions }))
}

/** Changes of conversations other than of the owner, and waits, are no events of the feed. */
const hasFeedEvent = ({ trigger }: RuleDraft): boolean =>
  !isWait(trigger) && !['assignee_changed', 'status_changed', 'label_added'].includes(trigger)

function triggerIssues({ trigger, afterMinutes }: RuleDraft): Issue[] {
  if (isWait(trigger) === (afterMinutes !== null)) return []
  const message = isWait(trigger) ? `is required for ${trigger}` : `must be null for ${trigger}`
  return [{ path: 'afterMinutes', message }]
}

const idFields = { connection: 'connection', label: 'label', added_label: 'label' } as const
const hoursStates = ['open', 'closed']
const valueLists: Partial<Record<Condition['field'], readonly string[]>> = {
  channel: channels,
  status: conversationStatuses,
  hours: hoursStates,
  priority: [...priorities, 'none'],
  actor: causes,
}
const amount = /^\d{1,9}(?:\.\d{1,2})?$/

function conditionIssues({ field, operator, values, key }: Condition, at: string): Issue[] {
  const issues: Issue[] = []
  const isAmount = operator === 'at_least' || operator === 'at_most'
  if (isAmount !== (field === 'lead_value')) {
    const allowed = field === 'lead_value' ? 'at_least or at_most' : 'any_of or none_of'
    issues.push({ path: `${at}.operator`, message: `must be ${allowed} for ${field}` })
  }
  if ((field === 'lead_field') !== (key !== undefined)) {
    const message = field === 'lead_field' ? 'is required for lead_field' : `is not used by ${field}`
    issues.push({ path: `${at}.key`, message })
  }
  for (const [n, value] of values.entries()) {
    const message = valueProblem(field, value)
    if (message !== null) issues.push({ path: `${at}.values[${n}]`, message })
  }
  return issues
}

function valueProblem(field: Condition['field'], value: string): string | null {
  const list = valueLists[field]
  if (list !== undefined) return list.includes(value) ? null : `must be one of ${list.join(', ')}`
  if (field === 'lead_value') return amount.test(value) ? null : 'must be an amount of at most two decimals'
  if (field === 'owner') return value === 'people' || value === 'agents' || isUuid(value) ? null : ownerMessage
  if (field === 'assignee') return value === 'nobody' || isUuid(value) ? null : 'must be nobody or the id of a member'
  if (field === 'team') return value === 'none' || isUuid(value) ? null : 'must be none or the id of a team'
  if (field === 'language') return /^[a-z]{2,3}$/.test(value) ? null : 'must be a code of a language, such as en or pt'
  if (field in idFields) return isUuid(value) ? null : 'must be an id'
  return value.trim() === '' ? 'must not be blank' : null
}

const ownerMessage = 'must be people, agents or the id of a key'

const actionListIssues = (actions: readonly Action[]): Issue[] =>
  actions.flatMap((action, n) => actionIssues(action, `actions[${n}]`))

function actionIssues(action: Action, at: string): Issue[] {
  const { kind } = action
  const { needs, may = [] } = actionFields[kind]
  const given = Object.keys(action).filter((name): name is OptionalField => name !== 'kind')
  const issues: Issue[] = [
    ...needs
      .filter((name) => action[name] === undefined)
      .map((name) => ({ path: `${at}.${name}`, message: `is required for ${kind}` })),
    ...given
      .filter((name) => !needs.includes(name) && !may.includes(name))
      .map((name) => ({ path: `${at}.${name}`, message: `is not used by ${kind}` })),
  ]
  const reject = (name: OptionalField, message: string) => void issues.push({ path: `${at}.${name}`, message })
  if (kind === 'reply' && (action.text === undefined) === (action.cannedReplyId === undefined))
    reject('text', 'or cannedReplyId is required: send exactly one of them')
  if (kind === 'set_status' && action.minutes !== undefined && action.status !== 'snoozed')
    reject('minutes', 'is allowed only with the status snoozed')
  if (kind === 'set_lead_field') issues.push(...leadFieldIssues(action, at))
  const texts = kind === 'add_note' ? [] : [action.text, ...(action.template?.parameters ?? [])]
  if (texts.some((text) => hasUnknownPlaceholder(text ?? '')))
    reject(kind === 'reply' ? 'text' : 'template', `may contain only {{${placeholders.join('}}, {{')}}}`)
  return issues
}

function leadFieldIssues({ field, key, value }: Action, at: string): Issue[] {
  const issues: Issue[] = []
  if ((field === 'custom') !== (key !== undefined)) {
    const message = field === 'custom' ? 'is required for custom' : 'is allowed only with custom'
    issues.push({ path: `${at}.key`, message })
  }
  const problem = field === undefined || value === undefined ? null : leadValueProblem(field, value)
  if (problem !== null) issues.push({ path: `${at}.value`, message: problem })
  return issues
}

function leadValueProblem(field: NonNullable<Action['field']>, value: string | null): string | null {
  if (field === 'status') return /^[a-z0-9_]{1,50}$/.test(value ?? '') ? null : 'must be a status of leads'
  if (field === 'priority')
    return leadPriorities.some((one) => one === value) ? null : `must be one of ${leadPriorities.join(', ')}`
  if (field === 'assignedTo') return value === null || isUuid(value) ? null : 'must be null or the id of a member'
  return null
}

function hasUnknownPlaceholder(text: string): boolean {
  const names = [...text.matchAll(/\{\{([^{}]*)\}\}/g)].map(([, name = '']) => name.trim())
  return names.some((name) => !placeholders.some((known) => known === name))
}

function referencesOf({ conditions, actions }: Pick<RuleDraft, 'conditions'> & { actions: readonly Action[] }) {
  const references: Reference[] = []
  const add = (path: string, kind: Reference['kind'], id: string | null | undefined) => {
    if (id != null && isUuid(id)) references.push({ path, kind, id: id.toLowerCase() })
  }
  for (const [n, { field, values }] of conditions.entries()) {
    for (const [m, value] of values.entries()) {
      const path = `conditions[${n}].values[${m}]`
      if (field === 'connection' || field === 'label' || field === 'added_label') add(path, idFields[field], value)
      if (field === 'owner') add(path, 'key', value)
      if (field === 'assignee') add(path, 'member', value)
      if (field === 'team') add(path, 'team', value)
    }
  }
  for (const [n, action] of actions.entries()) {
    for (const [m, id] of (action.labelIds ?? []).entries()) add(`actions[${n}].labelIds[${m}]`, 'label', id)
    add(`actions[${n}].userId`, 'member', action.userId)
    add(`actions[${n}].teamId`, 'team', action.teamId)
    add(`actions[${n}].keyId`, 'key', action.keyId)
    add(`actions[${n}].cannedReplyId`, 'reply', action.cannedReplyId)
    add(`actions[${n}].endpointId`, 'endpoint', action.endpointId)
    add(`actions[${n}].sequenceId`, 'sequence', action.sequenceId)
    if (action.field === 'assignedTo') add(`actions[${n}].value`, 'member', action.value)
  }
  return references
}

async function rejectMissing(sql: Sql, workspaceId: string, references: readonly Reference[]): Promise<void> {
  const missing = await findMissing(sql, workspaceId, references)
  if (missing.length === 0) return
  throw new InvalidInput(missing.map(({ path, kind }) => ({ path, message: `must be the id of ${things[kind]}` })))
}

const things: Record<Reference['kind'], string> = {
  connection: 'a connection of the workspace',
  label: 'a label of the workspace',
  member: 'a member of the workspace',
  team: 'a team of the workspace',
  key: 'an active key of the workspace',
  reply: 'a canned reply of the workspace',
  endpoint: 'a webhook endpoint of the workspace',
  sequence: 'a sequence of the workspace',
}

/** Returns for each of these rules the paths of what they name and no longer exists; a revoked key does not. */
export async function findProblems(
  sql: Sql,
  workspaceId: string,
  rules: readonly Pick<RuleDraft, 'conditions' | 'actions'>[],
): Promise<string[][]> {
  const byRule = rules.map(referencesOf)
  const missing = new Set(await findMissing(sql, workspaceId, byRule.flat()))
  return byRule.map((references) =>
    references
      .filter((one) => missing.has(one))
      .map(({ path }) => path)
      .slice(0, 100),
  )
}

async function findMissing(sql: Sql, workspaceId: string, references: readonly Reference[]): Promise<Reference[]> {
  if (references.length === 0) return []
  const ids = (kind: Reference['kind']) => [
    ...new Set(references.flatMap((one) => (one.kind === kind ? [one.id] : []))),
  ]
  const rows = await sql<{ kind: string; id: string }[]>`
    select 'connection' as kind, id from connections
    where workspace_id = ${workspaceId} and id = any (${ids('connection')}::uuid[]) and removed_at is null
    union all
    select 'label', id from labels
    where workspace_id = ${workspaceId} and id = any (${ids('label')}::uuid[])
    union all
    select 'member', user_id from members
    where workspace_id = ${workspaceId} and user_id = any (${ids('member')}::uuid[])
    union all
    select 'team', id from teams
    where workspace_id = ${workspaceId} and id = any (${ids('team')}::uuid[])
    union all
    select 'key', id from api_keys
    where workspace_id = ${workspaceId} and id = any (${ids('key')}::uuid[]) and revoked_at is null
    union all
    select 'reply', id from canned_replies
    where workspace_id = ${workspaceId} and id = any (${ids('reply')}::uuid[])
    union all
    select 'endpoint', id from webhook_endpoints
    where workspace_id = ${workspaceId} and id = any (${ids('endpoint')}::uuid[]) and removed_at is null
    union all
    select 'sequence', id from sequences
    where workspace_id = ${workspaceId} and id = any (${ids('sequence')}::uuid[]) and removed_at is null`
  const known = new Set(rows.map(({ kind, id }) => `${kind} ${id}`))
  return references.filter(({ kind, id }) => !known.has(`${kind} ${id}`))
}
