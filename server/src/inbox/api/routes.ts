import { Type } from 'typebox'
import { callerOf } from '../../access/keys/caller.ts'
import { isUuid } from '../../base/id.ts'
import type { App } from '../../base/route.ts'
import { unpaged } from '../../base/schema-types.ts'
import { listSendableTemplates } from '../../channels/templates/templates.ts'
import type { InboxDeps, Scope } from '../conversation/conversation.ts'
import type { SendDeps } from '../send/send-deps.ts'
import { inboxErrors } from './error-schema.ts'
import { about, type InboxGuard, scopeOf } from './key-request.ts'
import { serveConversation, serveConversations, serveMessages } from './routes-read.ts'
import { serveChanges, serveEchoes, serveRead } from './routes-write.ts'
import * as schema from './schema.ts'
import { sendRoutes } from './send-routes.ts'

/** The inbox interface: each route is validated, typed and documented by its schema. */
export function inboxRoutes(app: App, deps: SendDeps, guard: InboxGuard): void {
  for (const serve of [
    serveConversations,
    serveConversation,
    serveMessages,
    serveChanges,
    serveRead,
    serveEchoes,
    serveTemplates,
  ]) {
    serve(app, deps, guard)
  }
  sendRoutes(app, deps, guard)
}

function serveTemplates(app: App, deps: InboxDeps, guard: InboxGuard): void {
  app.get(
    '/api/v1/inbox/templates',
    {
      onRequest: guard.inbox('inbox.read'),
      schema: {
        ...about,
        operationId: 'listTemplates',
        summary: 'List approved templates',
        description:
          'Scope `inbox.read`. Approved templates that need no more than body parameters, by name and language.',
        querystring: schema.TemplatesQuery,
        response: { 200: Type.Object({ templates: Type.Array(schema.Template, unpaged) }), ...inboxErrors },
      },
    },
    async (request) => {
      const scope = scopeOf(callerOf(request))
      const connectionIds = connectionsIn(scope, request.query.connection_id)
      const templates = await listSendableTemplates(deps.db.sql, scope.workspaceId, connectionIds)
      return {
        templates: templates.map((template) => ({
          id: template.id,
          connection_id: template.connectionId,
          name: template.name,
          language: template.language,
          category: template.category,
          body: template.body,
          parameter_count: template.parameterCount,
        })),
      }
    },
  )
}

/** The connections whose templates are wanted and seen; null is every one. */
function connectionsIn({ connectionIds }: Scope, wanted: string | undefined): readonly string[] | null {
  if (wanted === undefined) return connectionIds.length === 0 ? null : connectionIds
  const id = wanted.toLowerCase()
  return isUuid(id) && (connectionIds.length === 0 || connectionIds.includes(id)) ? [id] : []
}
