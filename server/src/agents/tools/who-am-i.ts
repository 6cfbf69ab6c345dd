import { Type } from 'typebox'
import { scopes } from '../../auth/api-keys/caller.ts'
import { nullable, oneOf, timestamp } from '../../base/route.ts'
import { count, text } from '../../base/schema-types.ts'
import { countSentToday } from '../../inbox/send/send-limits.ts'
import { maxFieldsInUse } from '../../leads/fields/field-routes.ts'
import { fieldsInUse, formats, hasChoices, type LeadField, leadFieldTypes } from '../../leads/fields/lead-fields.ts'
import { idSchema } from '../../team/team-schema.ts'
import { findWorkspace } from '../../workspaces/workspace.ts'
import { exampleIds } from '../presenters/examples.ts'
import { cleanedText, limitsOf } from '../presenters/viewer.ts'
import { AgentHours, Connection, presentHours, selectConnections } from '../presenters/workspace.ts'
import { defineTool, input, output, readOnly } from '../tool.ts'

const day = [{ from: '09:00', to: '18:00' }]
const week = { monday: day, tuesday: day, wednesday: day, thursday: day, friday: day }

export const whoAmI = defineTool({
  name: 'who_am_i',
  title: 'Who am I',
  description:
    'Call this first. Says which API key you are, what its scopes let you do, which connections you see, how much of the rate limit is left, and what workspace you work for: its hours, its word for you, and what its leads hold.',
  scopes,
  http: { method: 'GET', path: '/me' },
  input: input({}),
  output: output('WhoAmI', {
    owner: text(42, 'How the first version and events name you; here your conversations say `you`.', {
      example: `agent:${exampleIds.key}`,
    }),
    key: Type.Object({
      id: idSchema('Your key.'),
      name: text(100, 'As the team sees you.', { example: 'Support agent' }),
      scopes: Type.Array(oneOf(scopes), { maxItems: scopes.length, description: 'What you may do.' }),
      phones: oneOf(['full', 'masked'] as const, { description: 'Whether you see phone numbers whole.' }),
    }),
    workspace: Type.Object({
      id: idSchema('The workspace.'),
      name: text(100, 'Whom you work for.', { example: 'Acme Sales' }),
      country: nullable(text(2, 'National phone numbers are read as numbers of it.', { example: 'BR' })),
      currency: nullable(text(3, 'What amounts of leads are in; null: nobody has said.', { example: 'BRL' })),
      agents_stopped: Type.Boolean({ description: 'While true no agent owns, gets or answers a conversation.' }),
      word: nullable(
        text(4000, 'What the team wants you to know, and how you are to speak. Only members write it: follow it.', {
          example: 'You speak for a shoe shop. Be brief and warm. Never promise a discount.',
        }),
      ),
      hours: nullable(AgentHours),
      has_leads: Type.Boolean({ description: 'Whether its plan includes leads.' }),
      has_inbox: Type.Boolean({ description: 'Whether its plan includes the inbox.' }),
    }),
    leads: nullable(
      Type.Object(
        {
          statuses: Type.Array(text(50, 'A status.'), { maxItems: 50, description: 'What `status` takes.' }),
          custom_fields: Type.Array(
            Type.Object({
              key: text(40, 'In `custom_field_values`.'),
              label: text(80, 'As people call it.'),
              type: oneOf(leadFieldTypes),
              format: text(100, 'What it takes.'),
              options: Type.Optional(Type.Array(text(255, 'An option.'), { maxItems: 100 })),
              required: Type.Boolean({ description: 'Every lead is to have it.' }),
            }),
            { maxItems: maxFieldsInUse, description: 'Other keys are taken as text.' },
          ),
        },
        { description: 'What leads hold here; null: your key has nothing to do with leads.' },
      ),
    ),
    connections: Type.Array(Connection, { maxItems: 100, description: 'Those that you see.' }),
    limits: Type.Object(
      {
        calls_per_minute: nullable(count('How many calls a minute allows; null: any number.')),
        calls_left: nullable(count('What is left at the moment; null: there is no limit.')),
        resets_in_seconds: nullable(count('When all of it is there again.')),
        unanswered_sends: count('How many messages you may send in a conversation since the customer’s last one.'),
        daily_sends: count('How many messages you may send in a UTC day.'),
        sends_left_today: count('How many of those are left.'),
        answer_within_minutes: nullable(
          count('People get a conversation of yours in which the customer has waited so long; null: never.'),
        ),
      },
      {
        description:
          'Calls about conversations and calls about leads are counted apart; this is one of them. Messages are counted beside them.',
      },
    ),
    time: timestamp('Now, by the service.'),
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
        answer_within_minutes: 5,
      },
      time: '2026-03-01T12:00:00.000Z',
      next: ['Call wait_for_work for the next customer who waits for you.'],
    },
  },
  run: async ({ inbox: { db, clock } }, caller) => {
    const { workspaceId, keyId, keyName, scopes: keyScopes, phoneVisibility, rateLimitLeft, may } = caller
    const [limits, now] = [limitsOf(caller), clock.now()]
    const seesLeads = caller.workspace.leadsEnabled && [...keyScopes].some((scope) => scope.startsWith('leads.'))
    const [workspace, connections, sent, fields] = await Promise.all([
      findWorkspace(db.sql, workspaceId),
      selectConnections(db.sql, caller),
      countSentToday(db.sql, workspaceId, keyId, now),
      seesLeads ? fieldsInUse(db.sql, workspaceId) : null,
    ])
    const stopped = workspace?.agentsStopped ?? true
    return {
      owner: `agent:${keyId}`,
      key: { id: keyId, name: keyName, scopes: [...keyScopes], phones: phoneVisibility },
      workspace: {
        id: workspaceId,
        name: workspace?.name ?? '',
        country: workspace?.defaultCountry ?? null,
        currency: workspace?.currency ?? null,
        agents_stopped: stopped,
        word: cleanedText(workspace?.agentWord ?? null),
        hours: workspace?.hours == null ? null : presentHours(workspace.hours, now),
        has_leads: caller.workspace.leadsEnabled,
        has_inbox: caller.workspace.inboxEnabled,
      },
      leads: fields === null ? null : { statuses: workspace?.leadStatuses ?? [], custom_fields: presentFields(fields) },
      connections,
      limits: {
        calls_per_minute: rateLimitLeft?.limit ?? null,
        calls_left: rateLimitLeft?.remaining ?? null,
        resets_in_seconds: rateLimitLeft?.resetSeconds ?? null,
        unanswered_sends: limits.unanswered,
        daily_sends: limits.daily,
        sends_left_today: Math.max(0, limits.daily - sent),
        answer_within_minutes: workspace?.agentWatchdogMinutes ?? null,
      },
      time: now.toISOString(),
      next: nextSteps(stopped, may('inbox.read'), may('inbox.write'), may('leads.read')),
    }
  },
})

const presentFields = (fields: ReadonlyMap<string, LeadField>) =>
  [...fields.values()].map(({ key, label, type, choices, required }) => ({
    key,
    label: cleanedText(label),
    type,
    format: formats[type],
    ...(hasChoices(type) && { options: choices.map(cleanedText) }),
    required,
  }))

function nextSteps(isStopped: boolean, readsInbox: boolean, answers: boolean, readsLeads: boolean): string[] {
  return [
    ...(isStopped ? ['Agents are stopped: do nothing until a member lets them on.'] : []),
    ...(readsInbox && answers && !isStopped ? ['Call wait_for_work for the next customer who waits for you.'] : []),
    ...(readsInbox ? ['Call list_conversations to see what there is.'] : []),
    ...(readsLeads ? ['Call find_leads to look somebody up.'] : []),
  ]
}
