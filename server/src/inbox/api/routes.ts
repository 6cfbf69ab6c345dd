import { Type } from 'typebox'
import { callerOf } from '../../auth/api-keys/caller.ts'
import { InvalidInput, type Issue } from '../../base/errors.ts'
import { isUuid } from '../../base/id.ts'
import type { App } from '../../base/route.ts'
import { cursor, page, unpaged } from '../../base/schema-types.ts'
import { listSendableTemplates } from '../../channels/templates/templates.ts'
import { conversationNotFound, type InboxDeps, type Scope } from '../conversation/conversation.ts'
import { decryptConversation } from '../conversation/encrypted-conversation.ts'
import { listConversations } from '../read/list.ts'
import { readMessages } from '../read/read-messages.ts'
import type { SendDeps } from '../send/send-deps.ts'
import {
  checkConversationFirst,
  type InboxGuard,
  inboxRouteSchema,
  limitLookups,
  parseListRequest,
  parseTime,
  readViewerContext,
  requireConversationRow,
  scopeOf,
} from './key-request.ts'
import { presentConversation, presentMessage } from './present.ts'
import { sendRoutes, serveChanges, serveEchoes, serveRead } from './routes-write.ts'
import * as schema from './schema.ts'
import { conversationErrors, inboxErrors } from './schema.ts'

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
        ...inboxRouteSchema,
        operationId: 'listTemplates',
        summary: 'List approved templates',
        description:
          'Scope `inbox.read`. Approved templates that need only body parameters, sorted by name and language.',
        querystring: schema.TemplatesQuery,
        response: { 200: Type.Object({ templates: Type.Array(schema.Template, unpaged) }), ...inboxErrors },
      },
    },
    async (request) => {
      const scope = scopeOf(callerOf(request))
      const connectionIds = connectionsIn(scope, request.query.connection_id)
      const templates = await listSendableTemplates(deps.db.sql, scope.workspaceId, connectionIds)
      return {
        templates: templates.map(({ id, connectionId, name, language, category, body, parameterCount }) => {
          return { id, connection_id: connectionId, name, language, category, body, parameter_count: parameterCount }
        }),
      }
    },
  )
}

/** Returns the ids of the connections to list templates of; null means all. */
function connectionsIn({ connectionIds }: Scope, requested: string | undefined): readonly string[] | null {
  if (requested === undefined) return connectionIds.length === 0 ? null : connectionIds
  const id = requested.toLowerCase()
  return isUuid(id) && (connectionIds.length === 0 || connectionIds.includes(id)) ? [id] : []
}

function serveConversations(app: App, deps: InboxDeps, guard: InboxGuard): void {
  app.get(
    '/api/v1/inbox/conversations',
    {
      onRequest: guard.inbox('inbox.read'),
      schema: {
        ...inboxRouteSchema,
        operationId: 'listConversations',
        summary: 'List conversations',
        description:
          'Scope `inbox.read`. Sorted by last update, newest first, with `id` as tie-breaker. Filters combine with AND. Send `cursor` back with the same filters until it is null. Conversations on connections that the key cannot see are left out.',
        querystring: schema.ListQuery,
        response: {
          200: Type.Object({
            conversations: Type.Array(schema.Conversation, page),
            cursor: Type.Union([cursor('Cursor of the next page.'), Type.Null()], {
              description: 'Null on the last page.',
            }),
          }),
          ...inboxErrors,
        },
      },
    },
    async (request) => {
      const query = parseListRequest(request.query)
      const view = await readViewerContext(deps, request)
      const reader = { sql: deps.db.sql, keyring: view.keyring, ...scopeOf(callerOf(request)) }
      const list = () => listConversations(reader, query)
      const page =
        query.filter.phone === null
          ? await list()
          : await limitLookups(request, guard, list, ({ conversations }) => conversations.length === 0)
      return {
        conversations: page.conversations.map((each) => presentConversation(each, view)),
        cursor: page.cursor,
      }
    },
  )
}

function serveConversation(app: App, deps: InboxDeps, guard: InboxGuard): void {
  app.get(
    '/api/v1/inbox/conversations/:id',
    {
      onRequest: guard.inbox('inbox.read'),
      errorHandler: checkConversationFirst(deps),
      schema: {
        ...inboxRouteSchema,
        operationId: 'getConversation',
        summary: 'Retrieve a conversation',
        description: 'Scope `inbox.read`.',
        params: schema.ConversationId,
        querystring: schema.NoQuery,
        response: { 200: Type.Object({ conversation: schema.Conversation }), ...conversationErrors },
      },
    },
    async (request) => {
      const view = await readViewerContext(deps, request)
      const row = await requireConversationRow(deps, request)
      return { conversation: presentConversation(decryptConversation(view.keyring, row), view) }
    },
  )
}

function serveMessages(app: App, deps: InboxDeps, guard: InboxGuard): void {
  app.get(
    '/api/v1/inbox/conversations/:id/messages',
    {
      onRequest: guard.inbox('inbox.read'),
      errorHandler: checkConversationFirst(deps),
      schema: {
        ...inboxRouteSchema,
        operationId: 'listMessages',
        summary: 'List messages',
        description:
          'Scope `inbox.read`. The newest `limit` messages, oldest first. To get older messages, repeat with `before` set to the `occurred_at` of the oldest message received, while `has_more` is true.',
        params: schema.ConversationId,
        querystring: schema.MessagesQuery,
        response: {
          200: Type.Object({
            messages: Type.Array(schema.Message, page),
            has_more: Type.Boolean({ description: 'Whether there are older messages.', example: false }),
          }),
          ...conversationErrors,
        },
      },
    },
    async (request) => {
      const { limit = 50, before } = request.query
      const issues: Issue[] = []
      const time = before === undefined ? null : parseTime('before', before, issues)
      if (issues.length > 0) throw new InvalidInput(issues, 'query')
      const { id } = request.params
      if (!isUuid(id)) throw conversationNotFound()
      const view = await readViewerContext(deps, request)
      const reader = { sql: deps.db.sql, keyring: view.keyring, ...scopeOf(callerOf(request)) }
      const page = await readMessages(reader, id, { before: time, limit })
      return { messages: page.messages.map((each) => presentMessage(each, view)), has_more: page.hasMore }
    },
  )
}
