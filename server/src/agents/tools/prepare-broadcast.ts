import { Type } from 'typebox'
import { forbidden } from '../../base/errors.ts'
import { uuid, visiblePattern } from '../../base/schema-types.ts'
import { ListQuery } from '../../leads/lead/schema.ts'
import { defineTool, input, output } from '../define-tool.ts'
import { exampleIds } from '../presenters/examples.ts'
import { actorOf } from '../presenters/viewer.ts'

const name = (maxLength: number) => Type.String({ minLength: 1, maxLength, pattern: visiblePattern })

export const prepareBroadcast = defineTool({
  name: 'prepare_broadcast',
  title: 'Prepare a broadcast',
  description: 'Drafts a template to many leads, which people start. Sends nothing.',
  scopes: ['inbox.write'],
  http: { method: 'POST', path: '/broadcasts' },
  brief: ['status'],
  input: input({
    name: name(100),
    connection_id: uuid(),
    status: ListQuery.properties.status,
    template_name: name(512),
    template_language: name(20),
    variables: Type.Optional(
      Type.Array(Type.String({ maxLength: 300, pattern: '^[^|\\s]' }), {
        maxItems: 100,
        description: 'For {{1}}, …: lead fields or custom keys, as `firstName|there` with a fallback.',
      }),
    ),
  }),
  output: output('BroadcastPrepared', { broadcast_id: uuid('The draft.') }),
  hints: { isReadOnly: false, isDestructive: false, isIdempotent: false },
  example: {
    input: {
      ...{ name: 'Spring sale', connection_id: exampleIds.connection, status: 'qualified' },
      ...{ template_name: 'order_update', template_language: 'en_US', variables: ['firstName|there'] },
    },
    output: { broadcast_id: exampleIds.message, next: ['Tell the team that the broadcast waits for them.'] },
  },
  run: async (deps, caller, { name: title, connection_id, variables = [], status, ...template }) => {
    const { connectionIds, workspaceId } = caller
    const connectionId = connection_id.toLowerCase()
    if (connectionIds.length > 0 && !connectionIds.includes(connectionId)) {
      throw forbidden('This key cannot use the connection')
    }
    if (!caller.may('leads.read')) throw forbidden('This key needs leads.read to choose leads')
    const { id } = await deps.prepareBroadcast(
      { workspaceId, actor: actorOf(caller) },
      {
        ...{ name: title.trim(), connectionId, variables, filter: status === undefined ? {} : { status } },
        template: { name: template.template_name, language: template.template_language },
      },
    )
    return { broadcast_id: id, next: ['Tell the team that the broadcast waits for them.'] }
  },
})
