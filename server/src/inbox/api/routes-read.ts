import { Type } from 'typebox'
import { callerOf } from '../../access/keys/caller.ts'
import { InvalidInput, type Issue } from '../../base/errors.ts'
import { isUuid } from '../../base/id.ts'
import type { App } from '../../base/route.ts'
import { cursor, page } from '../../base/schema-types.ts'
import type { InboxDeps } from '../conversation/conversation.ts'
import { conversationNotFound } from '../conversation/errors.ts'
import { openConversation } from '../conversation/sealed.ts'
import { listConversations } from '../read/list.ts'
import { readMessages } from '../read/read-messages.ts'
import { conversationErrors, inboxErrors } from './error-schema.ts'
import { about, conversationFirst, conversationOf, guessing, type InboxGuard, scopeOf, viewOf } from './key-request.ts'
import { readListRequest, readTime } from './list-request.ts'
import { presentConversation, presentMessage } from './present.ts'
import * as schema from './schema.ts'

export function serveConversations(app: App, deps: InboxDeps, guard: InboxGuard): void {
  app.get(
    '/api/v1/inbox/conversations',
    {
      onRequest: guard.inbox('inbox.read'),
      schema: {
        ...about,
        operationId: 'listConversations',
        summary: 'List conversations',
        description:
          'Scope `inbox.read`. Those updated last come first, with `id` as tie-breaker. Every filter narrows the list. Send `cursor` back, with the same filters, until it is null. Conversations on connections outside the list of the key are not shown.',
        querystring: schema.ListQuery,
        response: {
          200: Type.Object({
            conversations: Type.Array(schema.Conversation, page),
            cursor: Type.Union([cursor('For the next page.'), Type.Null()], {
              description: 'Null: there is no next page.',
            }),
          }),
          ...inboxErrors,
        },
      },
    },
    async (request) => {
      const wanted = readListRequest(request.query)
      const view = await viewOf(deps, request)
      const list = () => listConversations(deps.db.sql, view.keyring, scopeOf(callerOf(request)), wanted)
      const page =
        wanted.filter.phone === null
          ? await list()
          : await guessing(request, guard, list, ({ conversations }) => conversations.length === 0)
      return {
        conversations: page.conversations.map((each) => presentConversation(each, view)),
        cursor: page.cursor,
      }
    },
  )
}

export function serveConversation(app: App, deps: InboxDeps, guard: InboxGuard): void {
  app.get(
    '/api/v1/inbox/conversations/:id',
    {
      onRequest: guard.inbox('inbox.read'),
      errorHandler: conversationFirst(deps),
      schema: {
        ...about,
        operationId: 'getConversation',
        summary: 'Read one conversation',
        description: 'Scope `inbox.read`.',
        params: schema.ConversationId,
        querystring: schema.NoQuery,
        response: { 200: Type.Object({ conversation: schema.Conversation }), ...conversationErrors },
      },
    },
    async (request) => {
      const view = await viewOf(deps, request)
      const row = await conversationOf(deps, request)
      return { conversation: presentConversation(openConversation(view.keyring, row), view) }
    },
  )
}

export function serveMessages(app: App, deps: InboxDeps, guard: InboxGuard): void {
  app.get(
    '/api/v1/inbox/conversations/:id/messages',
    {
      onRequest: guard.inbox('inbox.read'),
      errorHandler: conversationFirst(deps),
      schema: {
        ...about,
        operationId: 'listMessages',
        summary: 'List messages',
        description:
          'Scope `inbox.read`. The newest `limit` messages, oldest first. For older ones repeat with `before` set to the `occurred_at` of the oldest message held, while `has_more` is true.',
        params: schema.ConversationId,
        querystring: schema.MessagesQuery,
        response: {
          200: Type.Object({
            messages: Type.Array(schema.Message, page),
            has_more: Type.Boolean({ description: 'Whether there are older ones.', example: false }),
          }),
          ...conversationErrors,
        },
      },
    },
    async (request) => {
      const { limit = 50, before } = request.query
      const issues: Issue[] = []
      const time = before === undefined ? null : readTime('before', before, issues)
      if (issues.length > 0) throw new InvalidInput(issues, 'query')
      const { id } = request.params
      if (!isUuid(id)) throw conversationNotFound()
      const view = await viewOf(deps, request)
      const page = await readMessages(deps.db.sql, view.keyring, scopeOf(callerOf(request)), id, {
        before: time,
        limit,
      })
      return { messages: page.messages.map((each) => presentMessage(each, view)), has_more: page.hasMore }
    },
  )
}
