import { type Static, Type } from 'typebox'
import { type ApprovalRules, scopes } from '../../auth/api-keys/caller.ts'
import type { RateLimitResult } from '../../auth/rate-limit/limiter.ts'
import { nullable, oneOf, timestamp } from '../../base/route.ts'
import { count, text, uuid } from '../../base/schema-types.ts'
import { isOfficial } from '../../channels/connection/connection.ts'
import { shownAmount } from '../../inbox/budgets/alerts.ts'
import { appliesTo, type Budget, budgetScopes, leftOf } from '../../inbox/budgets/budget.ts'
import { listBudgets, maxBudgets } from '../../inbox/budgets/manage-budgets.ts'
import { findBillingSettings } from '../../inbox/costs/billing-settings.ts'
import { readFreeMessages } from '../../inbox/costs/free-messages.ts'
import { countSentToday } from '../../inbox/send/send-limits.ts'
import { maxFieldsInUse } from '../../leads/fields/field-routes.ts'
import { fieldsInUse, formats, hasChoices, type LeadField, leadFieldTypes } from '../../leads/fields/lead-fields.ts'
import { idSchema } from '../../team/team-schema.ts'
import {
  findInForce,
  type InForce,
  type InstructionVersion,
  isForEvery,
  type PublishedVersion,
} from '../../workspaces/instructions/versions.ts'
import { findWorkspace } from '../../workspaces/workspace.ts'
import { type AgentCaller, type AgentDeps, defineTool, input, output, readOnly } from '../define-tool.ts'
import { exampleIds } from '../presenters/examples.ts'
import { agentSettingsOf, cleanedText, limitsOf } from '../presenters/viewer.ts'
import { AgentHours, Connection, presentHours, selectConnections } from '../presenters/workspace.ts'

const version = count('Its version.', { example: 4 })
const instructionText = text(4000, 'Only members write it: follow it.', {
  example: 'You speak for a shoe shop. Be brief and warm. Never promise a discount.',
})
const Instructions = (description: string) =>
  nullable(Type.Object({ version, text: instructionText }, { description: `${description}; null: none.` }))

const AgentInstructions = Type.Object(
  {
    version: count('Changes with each publication: compare it with `instructions_version` of wait_for_work.'),
    workspace: Instructions('For every agent'),
    key: Instructions('For you'),
    connections: Type.Array(
      Type.Object({ connection_id: uuid('A connection of yours.'), version, text: instructionText }),
      { maxItems: 100, description: 'For conversations of these connections.' },
    ),
  },
  {
    description:
      'Instructions of the team. Follow all of them; if they differ, those of the connection come before yours, and yours before those for every agent.',
  },
)

const day = [{ from: '09:00', to: '18:00' }]
const week = { monday: day, tuesday: day, wednesday: day, thursday: day, friday: day }

export const whoAmI = defineTool({
  name: 'who_am_i',
  title: 'Who am I',
  description:
    'Call this first, and again when next names new instructions. Returns your key with its scopes, connections and limits, and the instructions, business hours and lead fields of your team.',
  scopes,
  http: { method: 'GET', path: '/me' },
  input: input({}),
  output: output('WhoAmI', {
    owner: text(42, 'Your owner value in API v1 and events; here your conversations say `you`.', {
      example: `agent:${exampleIds.key}`,
    }),
    key: Type.Object({
      id: idSchema('Your key.'),
      name: text(100, 'Your name in the team.', { example: 'Support agent' }),
      scopes: Type.Array(oneOf(scopes), { maxItems: scopes.length, description: 'Your permissions.' }),
      phones: oneOf(['full', 'masked'] as const, { description: 'Whether phone numbers are masked for you.' }),
      tools_off: Type.Array(text(64, 'A tool.'), {
        maxItems: 100,
        description: 'Tools that your team has switched off for you: calls are refused.',
      }),
    }),
    workspace: Type.Object({
      id: idSchema('The workspace.'),
      name: text(100, 'Name of the workspace.', { example: 'Acme Sales' }),
      country: nullable(text(2, 'Default country of national phone numbers.', { example: 'BR' })),
      currency: nullable(text(3, 'Currency of lead amounts; null: not set.', { example: 'BRL' })),
      agents_stopped: Type.Boolean({ description: 'While true, no agent can own, receive or answer conversations.' }),
      word: nullable(
        text(4000, 'Same as `text` of `instructions.workspace`.', {
          example: 'You speak for a shoe shop. Be brief and warm. Never promise a discount.',
        }),
      ),
      hours: nullable(AgentHours),
      has_leads: Type.Boolean({ description: 'Whether its plan includes leads.' }),
      has_inbox: Type.Boolean({ description: 'Whether its plan includes the inbox.' }),
    }),
    instructions: AgentInstructions,
    leads: nullable(
      Type.Object(
        {
          statuses: Type.Array(text(50, 'A status.'), { maxItems: 50, description: 'Values of `status`.' }),
          custom_fields: Type.Array(
            Type.Object({
              key: text(40, 'In `custom_field_values`.'),
              label: text(80, 'Name for people.'),
              type: oneOf(leadFieldTypes),
              format: text(100, 'Accepted values.'),
              options: Type.Optional(Type.Array(text(255, 'An option.'), { maxItems: 100 })),
              required: Type.Boolean({ description: 'Whether every lead requires it.' }),
            }),
            { maxItems: maxFieldsInUse, description: 'Other keys are accepted as text.' },
          ),
        },
        { description: 'Fields of leads; null: your key has no scope for leads.' },
      ),
    ),
    connections: Type.Array(Connection, { maxItems: 100, description: 'Connections that you can access.' }),
    limits: Type.Object(
      {
        calls_per_minute: nullable(count('Calls allowed per minute; null: unlimited.')),
        calls_left: nullable(count('Calls left now; null: unlimited.')),
        resets_in_seconds: nullable(count('Seconds until the limit is fully restored.')),
        unanswered_sends: count('Messages that you can send in a conversation after the customer’s last one.'),
        daily_sends: count('Messages that you can send per UTC day.'),
        sends_left_today: count('Messages left today.'),
        max_parts: count('Messages into which one text of yours may be cut; a longer text is refused.'),
        quiet_seconds: count(
          'Seconds that a customer must have been silent before wait_for_work returns their messages. No message waits longer than 30 seconds.',
        ),
        needs_approval: oneOf(['never', 'some', 'always'] as const, {
          description: 'Which of your answers become drafts that a person approves.',
        }),
        answer_within_minutes: nullable(
          count('Minutes after which a waiting conversation is reassigned to people; null: never.'),
        ),
        free_replies: Type.Array(
          Type.Object({ connection_id: uuid('A connection.'), left: count('Left this month.') }),
          {
            maxItems: 100,
            description:
              'Replies that the platform does not charge for, by connection of yours to it. Each message is one: a long text has several.',
          },
        ),
        budgets: Type.Array(
          Type.Object({
            scope: oneOf(budgetScopes, { description: 'Whose sends share it.' }),
            left: text(60, 'What your sends may still cost.', { example: '12.5' }),
            unit: text(8, '`messages` that the platform charges for, or a currency.', { example: 'USD' }),
            resets_at: timestamp('When it starts again.'),
          }),
          { maxItems: maxBudgets, description: 'Budgets of yours; without any, sends may cost anything.' },
        ),
      },
      {
        description:
          'Calls for conversations and calls for leads have separate limits; this is one of them. Sends have their own limits.',
      },
    ),
    time: timestamp('Current server time.'),
  }),
  hints: readOnly,
  example: {
    input: {},
    output: {
      owner: `agent:${exampleIds.key}`,
      key: {
        id: exampleIds.key,
        name: 'Support agent',
        scopes: ['inbox.read', 'inbox.write'],
        phones: 'full',
        tools_off: [],
      },
      workspace: {
        id: exampleIds.workspace,
        name: 'Acme Sales',
        country: 'BR',
        currency: 'BRL',
        agents_stopped: false,
        word: 'You speak for a shoe shop. Be brief and warm. Never promise a discount.',
        hours: {
          time_zone: 'America/Sao_Paulo',
          week: { ...week, saturday: [{ from: '09:00', to: '13:00' }], sunday: [] },
          is_open: false,
          next_change_at: '2026-03-02T12:00:00.000Z',
        },
        has_leads: true,
        has_inbox: true,
      },
      instructions: {
        version: 7,
        workspace: { version: 4, text: 'You speak for a shoe shop. Be brief and warm. Never promise a discount.' },
        key: { version: 2, text: 'You answer questions about orders. Hand over everything else.' },
        connections: [],
      },
      leads: {
        statuses: ['new', 'qualified', 'won', 'lost'],
        custom_fields: [
          {
            key: 'city',
            label: 'City',
            type: 'select',
            format: 'one of options',
            options: ['Recife', 'Natal'],
            required: true,
          },
        ],
      },
      connections: [{ id: exampleIds.connection, name: 'Shop', channel: 'waba', state: 'active' }],
      limits: {
        calls_per_minute: 300,
        calls_left: 299,
        resets_in_seconds: 1,
        unanswered_sends: 3,
        daily_sends: 1000,
        sends_left_today: 988,
        max_parts: 1,
        quiet_seconds: 4,
        needs_approval: 'never',
        answer_within_minutes: 5,
        free_replies: [{ connection_id: exampleIds.connection, left: 640 }],
        budgets: [{ scope: 'key', left: '180', unit: 'messages', resets_at: '2026-04-01T03:00:00.000Z' }],
      },
      time: '2026-03-01T12:00:00.000Z',
      next: ['Call wait_for_work for the next waiting customer.'],
    },
  },
  run: (deps, caller) => describeAgent(deps, caller, null),
})

/** Returns what who_am_i answers: for a draft of instructions, as it would once the draft is published. */
export async function describeAgent(
  { inbox: { db, clock } }: { inbox: Pick<AgentDeps['inbox'], 'db' | 'clock'> },
  caller: AgentCaller,
  draft: InstructionVersion | null,
) {
  const { workspaceId, keyId, rateLimitLeft, may } = caller
  const [limits, settings, now] = [limitsOf(caller), agentSettingsOf(caller), clock.now()]
  const seesLeads = caller.workspace.leadsEnabled && [...caller.scopes].some((scope) => scope.startsWith('leads.'))
  const [workspace, connections, sent, fields, billing, budgets, inForce] = await Promise.all([
    findWorkspace(db.sql, workspaceId),
    selectConnections(db.sql, caller),
    countSentToday(db.sql, workspaceId, keyId, now),
    seesLeads ? fieldsInUse(db.sql, workspaceId) : null,
    findBillingSettings(db.sql, workspaceId),
    listBudgets(db.sql, workspaceId, now),
    findInForce(db.sql, workspaceId, caller),
  ])
  const charging = connections.flatMap(({ id, channel }) => (isOfficial(channel) ? id : []))
  const freeMessages = await readFreeMessages(db.sql, workspaceId, charging, billing, now)
  const stopped = workspace?.agentsStopped ?? true
  const isCounted = draft !== null && (draft.keyId === null || draft.keyId === keyId)
  const instructions = presentInstructions(withDraft(inForce, keyId, draft), {
    word: draft !== null && isForEvery(draft) ? draft.text : (workspace?.agentWord ?? null),
    seen: connections,
    publications: caller.agentSettings.instructionsVersion + (isCounted ? 1 : 0),
  })
  return {
    owner: `agent:${keyId}`,
    key: presentKey(caller),
    workspace: {
      id: workspaceId,
      name: workspace?.name ?? '',
      country: workspace?.defaultCountry ?? null,
      currency: workspace?.currency ?? null,
      agents_stopped: stopped,
      word: instructions.workspace?.text ?? null,
      hours: workspace?.hours == null ? null : presentHours({ ...workspace.hours, holidays: workspace.holidays }, now),
      has_leads: caller.workspace.leadsEnabled,
      has_inbox: caller.workspace.inboxEnabled,
    },
    instructions,
    leads: fields === null ? null : { statuses: workspace?.leadStatuses ?? [], custom_fields: presentFields(fields) },
    connections,
    limits: {
      ...presentRate(rateLimitLeft),
      unanswered_sends: limits.unanswered,
      daily_sends: limits.daily,
      sends_left_today: Math.max(0, limits.daily - sent),
      max_parts: settings.maxParts,
      quiet_seconds: settings.quietSeconds,
      needs_approval: extentOf(caller.agentSettings.approval),
      answer_within_minutes: workspace?.agentWatchdogMinutes ?? null,
      free_replies: freeMessages.map(({ connectionId, left }) => ({ connection_id: connectionId, left })),
      budgets: presentBudgets(budgets, keyId, connections),
    },
    time: now.toISOString(),
    next: nextSteps(stopped, may('inbox.read'), may('inbox.write'), may('leads.read')),
  }
}

const presentKey = ({ keyId, keyName, scopes: keyScopes, phoneVisibility, agentSettings }: AgentCaller) => ({
  id: keyId,
  name: keyName,
  scopes: [...keyScopes],
  phones: phoneVisibility,
  tools_off: [...agentSettings.toolsOff],
})

const presentRate = (left: RateLimitResult | null) => ({
  calls_per_minute: left?.limit ?? null,
  calls_left: left?.remaining ?? null,
  resets_in_seconds: left?.resetSeconds ?? null,
})

/** Shows the budgets that limit the key, on the connections that it can access. */
function presentBudgets(budgets: readonly Budget[], keyId: string, connections: readonly { id: string }[]) {
  const ids = connections.map(({ id }) => id)
  return budgets
    .filter((budget) => ids.some((connectionId) => appliesTo(budget, { connectionId, keyId })))
    .map((budget) => ({
      scope: budget.scope,
      left: shownAmount(leftOf(budget), budget.unit),
      unit: budget.currency ?? budget.unit,
      resets_at: budget.until.toISOString(),
    }))
}

function extentOf(rules: ApprovalRules | null): 'never' | 'some' | 'always' {
  if (rules === null) return 'never'
  return rules.always ? 'always' : 'some'
}

const presentFields = (fields: ReadonlyMap<string, LeadField>) =>
  [...fields.values()].map(({ key, label, type, choices, required }) => ({
    key,
    label: cleanedText(label),
    type,
    format: formats[type],
    ...(hasChoices(type) && { options: choices.map(cleanedText) }),
    required,
  }))

function nextSteps(isStopped: boolean, canReadInbox: boolean, canAnswer: boolean, canReadLeads: boolean): string[] {
  return [
    ...(isStopped ? ['Agents are stopped: do nothing until a member resumes them.'] : []),
    ...(canReadInbox && canAnswer && !isStopped ? ['Call wait_for_work for the next waiting customer.'] : []),
    ...(canReadInbox ? ['Call list_conversations for all of them.'] : []),
    ...(canReadLeads ? ['Call find_leads to search for leads.'] : []),
  ]
}

/** Puts a draft in the place of the version that it would replace; null, or one for another key, changes nothing. */
function withDraft(inForce: InForce, keyId: string, draft: InstructionVersion | null): InForce {
  if (draft === null) return inForce
  const publishedOver = (current: PublishedVersion | null | undefined): PublishedVersion => ({
    ...draft,
    version: (current?.version ?? 0) + 1,
    publishedAt: draft.updatedAt,
  })
  const { workspace, key, connections } = inForce
  if (draft.keyId !== null) return draft.keyId === keyId ? { ...inForce, key: publishedOver(key) } : inForce
  if (draft.connectionId === null) return { ...inForce, workspace: publishedOver(workspace) }
  const others = connections.filter(({ connectionId }) => connectionId !== draft.connectionId)
  const replaced = connections.find(({ connectionId }) => connectionId === draft.connectionId)
  return { ...inForce, connections: [...others, publishedOver(replaced)] }
}

interface Surroundings {
  /** The text for every agent in the settings: a process without versions may have written it. */
  word: string | null
  /** Connections that the key sees. */
  seen: readonly { id: string }[]
  /** Number of publications that may concern the key. */
  publications: number
}

function presentInstructions(
  { workspace, key, connections }: InForce,
  { word, seen, publications }: Surroundings,
): Static<typeof AgentInstructions> {
  return {
    version: publications,
    workspace: presentText({ version: workspace?.version ?? 0, text: word }),
    key: presentText(key),
    connections: seen.flatMap(({ id }) => {
      const shown = presentText(connections.find(({ connectionId }) => connectionId === id) ?? null)
      return shown === null ? [] : [{ connection_id: id, ...shown }]
    }),
  }
}

const presentText = (published: Pick<PublishedVersion, 'version' | 'text'> | null) =>
  published === null || published.text === null
    ? null
    : { version: published.version, text: cleanedText(published.text) }
