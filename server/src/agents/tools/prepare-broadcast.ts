import { Type } from 'typebox'
import { forbidden } from '../../base/errors.ts'
import { oneOf } from '../../base/route.ts'
import { text, uuid, visiblePattern } from '../../base/schema-types.ts'
import { ListQuery } from '../../leads/lead/schema.ts'
import { defineTool, input, output } from '../define-tool.ts'
import { exampleIds } from '../presenters/examples.ts'
import { actorOf } from '../presenters/viewer.ts'

const { status, source } = ListQuery.properties

export const prepareBroadcast = defineTool({
  name: 'prepare_broadcast',
  title: 'Prepare a broadcast',
  description: 'Drafts a template to many leads for people, who check and start it. Sends nothing.',
  scopes: ['inbox.write'],
  http: { method: 'POST', path: '/broadcasts' },
  input: input({
    name: Type.String({ minLength: 1, maxLength: 100, pattern: visiblePattern }),
    connection_id: uuid(),
    status,
    source,
    template_name: text(512, 'From list_templates.', { minLength: 1 }),
    template_language: text(20, 'Likewise.', { minLength: 1 }),
    variables: Type.Optional(
      Type.Array(
        Type.Object(
          {
            from: oneOf(['field', 'custom', 'text'] as const),
            value: text(1000, 'Field such as firstName, key of a custom field, or text.', { minLength: 1 }),
            fallback: Type.Optional(text(255, 'For leads without it.')),
          },
          { additionalProperties: false, title: 'AgentBroadcastVariable' },
        ),
        { maxItems: 100, description: 'For {{1}}, … of the body.' },
      ),
    ),
  }),
  output: output('BroadcastPrepared', { broadcast_id: uuid('The draft.') }),
  hints: { isReadOnly: false, isDestructive: false, isIdempotent: false },
  example: {
    input: {
      name: 'Spring sale',
      connection_id: exampleIds.connection,
      status: 'qualified',
      template_name: 'order_update',
      template_language: 'en_US',
      variables: [{ from: 'field', value: 'firstName', fallback: 'there' }],
    },
    output: { broadcast_id: exampleIds.message, next: ['Tell the team that the broadcast waits for them.'] },
  },
  run: async (deps, caller, { name, connection_id, variables = [], ...rest }) => {
    const { connectionIds, workspaceId } = caller
    const connectionId = connection_id.toLowerCase()
    if (connectionIds.length > 0 && !connectionIds.includes(connectionId)) {
      throw forbidden('This key cannot use the connection')
    }
    if (!caller.may('leads.read')) throw forbidden('This key needs leads.read to choose leads')
    const { template_name, template_language, ...filter } = rest
    const template = { name: template_name, language: template_language }
    const { id } = await deps.prepareBroadcast(
      { workspaceId, actor: actorOf(caller) },
      {
        ...{ name: name.trim(), connectionId, filter, viewName: null },
        variants: [{ template, weight: 1, body: variables, header: null, buttons: [] }],
        options: { quietDays: 1, optInOnly: false, perMinute: null },
      },
    )
    return { broadcast_id: id, next: ['Tell the team that the broadcast waits for them.'] }
  },
})
