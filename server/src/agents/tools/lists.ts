import { Type } from 'typebox'
import { listPeople } from '../../auth/members/people.ts'
import { instanceScope } from '../../base/encryption/key-store.ts'
import { invalid } from '../../base/errors.ts'
import { oneOf } from '../../base/route.ts'
import { count, text, uuid } from '../../base/schema-types.ts'
import { inputsSchema, presentInputs } from '../../channels/templates/template-schema.ts'
import { listSendableTemplates, templateHeaders } from '../../channels/templates/templates.ts'
import { roles } from '../../team/member.ts'
import { idSchema } from '../../team/team-schema.ts'
import { listCannedReplies } from '../../workspaces/canned-replies.ts'
import { listLabels } from '../../workspaces/labels.ts'
import { defineTool, input, output, readOnly } from '../define-tool.ts'
import { exampleIds } from '../presenters/examples.ts'
import { scopeOf } from '../presenters/viewer.ts'
import { Connection, selectConnections } from '../presenters/workspace.ts'

const maxListed = 500
const firstItems = <T>(all: readonly T[]) => all.slice(0, maxListed)

export const listTemplates = defineTool({
  name: 'list_templates',
  title: 'List templates',
  description:
    'Lists approved templates, by connection. Only these can start a conversation, or answer after its 24-hour window.',
  scopes: ['inbox.read'],
  http: { method: 'GET', path: '/templates' },
  input: input({ connection_id: Type.Optional(uuid('Only those of this connection.')) }),
  output: output('TemplatesListed', {
    templates: Type.Array(
      Type.Object(
        {
          connection_id: idSchema('The connection that can send it.'),
          name: text(512, 'For `template.name`.'),
          language: text(512, 'For `template.language`.'),
          category: text(512, 'Spelled as on the platform.'),
          body: text(32_768, 'With placeholders `{{1}}`, `{{2}}`, ….'),
          parameter_count: count('Number of `template.body_params` that it needs.'),
          header: Type.Optional(
            oneOf(templateHeaders, {
              description: 'It needs a file of this kind: set `template.header_upload_id` or `template.header_url`.',
            }),
          ),
          inputs: Type.Optional(inputsSchema),
        },
        { title: 'AgentTemplate' },
      ),
      { maxItems: maxListed },
    ),
  }),
  hints: readOnly,
  example: {
    input: {},
    output: {
      templates: [
        {
          connection_id: exampleIds.connection,
          name: 'order_update',
          language: 'en_US',
          category: 'UTILITY',
          body: 'Hi {{1}}, your order left.',
          parameter_count: 1,
        },
      ],
      next: ['Call answer with template: its name, language and body_params.'],
    },
  },
  run: async ({ inbox }, caller, { connection_id }) => {
    const { connectionIds } = caller
    const requested = connection_id?.toLowerCase()
    if (requested !== undefined && connectionIds.length > 0 && !connectionIds.includes(requested)) {
      throw invalid('connection_id', 'must be a connection that your key can access', 'query')
    }
    const allowedIds = requested === undefined ? (connectionIds.length === 0 ? null : connectionIds) : [requested]
    const templates = await listSendableTemplates(inbox.db.sql, caller.workspaceId, allowedIds, true)
    return {
      templates: firstItems(templates).map(({ name, language, category, body, ...template }) => ({
        ...{ connection_id: template.connectionId, name, language, category, body },
        parameter_count: template.parameterCount,
        ...(template.header !== null && { header: template.header }),
        ...(template.inputs !== null && { inputs: presentInputs(template) ?? undefined }),
      })),
      next: ['Call answer with template: its name, language and body_params.'],
    }
  },
})

export const listAllLabels = defineTool({
  name: 'list_labels',
  title: 'List labels',
  description: 'Lists the labels with their ids, for the tool label.',
  scopes: ['inbox.read'],
  http: { method: 'GET', path: '/labels' },
  input: input({}),
  output: output('LabelsListed', {
    labels: Type.Array(
      Type.Object({ id: idSchema('The label.'), name: text(50, 'Its name.') }, { title: 'AgentLabel' }),
      { maxItems: maxListed },
    ),
  }),
  hints: readOnly,
  example: {
    input: {},
    output: { labels: [{ id: exampleIds.label, name: 'VIP' }], next: ['Call label with label_ids.'] },
  },
  run: async ({ inbox }, { workspaceId }) => {
    const labels = await listLabels(inbox.db.sql, workspaceId)
    return { labels: firstItems(labels).map(({ id, name }) => ({ id, name })), next: ['Call label with label_ids.'] }
  },
})

export const listAllPeople = defineTool({
  name: 'list_people',
  title: 'List people and agents',
  description: 'Lists the members of the team, for hand_over, and the active agents, for hand_to_agent.',
  scopes: ['inbox.read', 'leads.read'],
  http: { method: 'GET', path: '/people' },
  input: input({}),
  output: output('PeopleListed', {
    members: Type.Array(
      Type.Object({
        id: idSchema('For `assigned_to`.'),
        name: text(100, 'Display name.'),
        role: oneOf(roles, { description: 'Role in the workspace.' }),
      }),
      { maxItems: maxListed },
    ),
    agents: Type.Array(
      Type.Object({
        key_id: idSchema('For `key_id`.'),
        name: text(100, 'Name of the key.'),
        is_you: Type.Boolean({ description: 'Whether this is you.' }),
      }),
      { maxItems: maxListed },
    ),
  }),
  hints: readOnly,
  example: {
    input: {},
    output: {
      members: [{ id: exampleIds.member, name: 'Ana Lima', role: 'member' }],
      agents: [{ key_id: exampleIds.key, name: 'Support agent', is_you: true }],
      next: ['Call hand_over with assigned_to for one of the members, or without it for the team.'],
    },
  },
  run: async ({ inbox: { db, keyStore, clock } }, { workspaceId, keyId }) => {
    const people = await listPeople(db.sql, workspaceId, await keyStore.keyring(instanceScope))
    const now = clock.now()
    const activeKeys = people.keys.filter(
      ({ revokedAt, expiresAt }) => revokedAt === null && (expiresAt === null || expiresAt > now),
    )
    return {
      members: firstItems(people.members),
      agents: firstItems(activeKeys).map(({ id, name }) => ({ key_id: id, name, is_you: id === keyId })),
      next: ['Call hand_over with assigned_to for one of the members, or without it for the team.'],
    }
  },
})

export const listAllConnections = defineTool({
  name: 'list_connections',
  title: 'List connections',
  description: 'Lists the numbers of your key that customers write to, with their state.',
  scopes: ['inbox.read'],
  http: { method: 'GET', path: '/connections' },
  input: input({}),
  output: output('ConnectionsListed', { connections: Type.Array(Connection, { maxItems: 100 }) }),
  hints: readOnly,
  example: {
    input: {},
    output: {
      connections: [{ id: exampleIds.connection, name: 'Shop', channel: 'waba', state: 'active' }],
      next: ['Call list_conversations with connection_id for those on one of them.'],
    },
  },
  run: async ({ inbox }, caller) => ({
    connections: await selectConnections(inbox.db.sql, scopeOf(caller)),
    next: ['Call list_conversations with connection_id for those on one of them.'],
  }),
})

export const listAllCannedReplies = defineTool({
  name: 'list_canned_replies',
  title: 'List canned replies',
  description:
    'Lists prepared answers of the team. Fill in the placeholders (`{{contact.name}}` and others) before you send one.',
  scopes: ['inbox.read'],
  http: { method: 'GET', path: '/canned-replies' },
  input: input({}),
  output: output('CannedRepliesListed', {
    canned_replies: Type.Array(
      Type.Object(
        {
          shortcut: text(50, 'Name of the reply.'),
          text: text(16_384, 'Text of the reply.'),
        },
        { title: 'AgentCannedReply' },
      ),
      { maxItems: maxListed },
    ),
  }),
  hints: readOnly,
  example: {
    input: {},
    output: {
      canned_replies: [{ shortcut: 'hours', text: 'We are here from 9 to 18 on weekdays.' }],
      next: ['Call answer with the text of one, with its placeholders filled in.'],
    },
  },
  run: async ({ inbox }, { workspaceId }) => {
    const replies = await listCannedReplies(inbox.db.sql, workspaceId)
    return {
      canned_replies: firstItems(replies).map(({ shortcut, text: words }) => ({ shortcut, text: words })),
      next: ['Call answer with the text of one, with its placeholders filled in.'],
    }
  },
})
