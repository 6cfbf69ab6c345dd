import { Type } from 'typebox'
import { InvalidInput, type Issue } from '../base/errors.ts'
import { memberOf, type TeamGuard } from '../base/member.ts'
import { type App, errors, postman } from '../base/route.ts'
import { teamRoute, workspaceParams } from '../base/team-schema.ts'
import type { InboxDeps } from './conversation.ts'
import { conversationNotFound } from './errors.ts'
import { type ListRequest, listConversations } from './list.ts'
import { readOwnerFilter, readTime } from './list-request.ts'
import { listNotes } from './notes.ts'
import { findConversation } from './queries.ts'
import { readMessages } from './read-messages.ts'
import { MessagesQuery } from './schema.ts'
import { openConversation } from './sealed.ts'
import { presentTeamConversation, presentTeamMessage, presentTeamNote } from './team-present.ts'
import { conversationRoute, conversationsPath, scopeOf } from './team-request.ts'
import {
  TeamConversation,
  TeamConversationParams,
  TeamLead,
  TeamListQuery,
  TeamMessage,
  TeamNote,
} from './team-schema.ts'

export function serveTeamConversations(app: App, { db, vault, clock }: InboxDeps, guard: TeamGuard): void {
  app.route({
    method: 'GET',
    url: conversationsPath,
    onRequest: guard.member('member'),
    schema: {
      ...teamRoute,
      summary: 'List conversations',
      description: 'Those updated last come first. Every filter narrows the list.',
      params: Type.Object(workspaceParams),
      querystring: TeamListQuery,
      response: {
        200: Type.Object({
          conversations: Type.Array(TeamConversation),
          cursor: Type.Union([Type.String(), Type.Null()]),
        }),
        ...errors(400, 401, 404),
      },
    },
    handler: async (request) => {
      const member = memberOf(request)
      const keyring = await vault.keyring(member.workspaceId)
      const page = await listConversations(db.sql, keyring, scopeOf(member), readTeamList(request.query))
      return {
        conversations: page.conversations.map((each) => presentTeamConversation(each, clock.now())),
        cursor: page.cursor,
      }
    },
  })
}

function readTeamList(query: TeamListQuery): ListRequest {
  const issues: Issue[] = []
  const filter = {
    connectionId: query.connectionId?.toLowerCase() ?? null,
    phone: query.phone ?? null,
    owner: query.owner === undefined ? null : readOwnerFilter(query.owner, issues),
    status: query.status ?? null,
    updatedAfter: query.updatedAfter === undefined ? null : readTime('updatedAfter', query.updatedAfter, issues),
    assignedTo: query.assignedTo ?? null,
    labelId: query.labelId ?? null,
    unreadOnly: query.unread ?? false,
    unansweredOnly: query.unanswered ?? false,
  }
  if (issues.length > 0) throw new InvalidInput(issues, 'query')
  return { filter, limit: query.limit ?? 30, cursor: query.cursor ?? null }
}

const nullableLead = Type.Union([TeamLead, Type.Null()])

export function serveTeamConversation(app: App, { db, vault, clock, leadOf }: InboxDeps, guard: TeamGuard): void {
  app.route({
    method: 'GET',
    url: `${conversationsPath}/:id`,
    onRequest: guard.member('member'),
    schema: {
      ...conversationRoute,
      summary: 'Read a conversation',
      ...postman({ path: { id: '{{conversation_id}}' } }),
      description: 'With its newest 200 notes, oldest first, and the lead with the phone of the customer.',
      params: TeamConversationParams,
      response: {
        200: Type.Object({ conversation: TeamConversation, notes: Type.Array(TeamNote), lead: nullableLead }),
        ...errors(400, 401, 404),
      },
    },
    handler: async (request) => {
      const member = memberOf(request)
      const keyring = await vault.keyring(member.workspaceId)
      const row = await findConversation(db.sql, scopeOf(member), request.params.id)
      if (row === undefined) throw conversationNotFound()
      const conversation = openConversation(keyring, row)
      const { phone } = conversation.contact
      const [notes, lead] = await Promise.all([
        listNotes(db.sql, keyring, member.workspaceId, row.id),
        phone === null ? null : leadOf(member.workspaceId, phone),
      ])
      return {
        conversation: presentTeamConversation(conversation, clock.now()),
        notes: notes.map(presentTeamNote),
        lead,
      }
    },
  })
}

export function serveTeamMessages(app: App, { db, vault }: InboxDeps, guard: TeamGuard): void {
  app.route({
    method: 'GET',
    url: `${conversationsPath}/:id/messages`,
    onRequest: guard.member('member'),
    schema: {
      ...conversationRoute,
      summary: "List a conversation's messages",
      ...postman({ path: { id: '{{conversation_id}}' } }),
      description: 'The newest `limit`, oldest first. For older ones repeat with `before`.',
      params: TeamConversationParams,
      querystring: MessagesQuery,
      response: {
        200: Type.Object({ messages: Type.Array(TeamMessage), hasMore: Type.Boolean() }),
        ...errors(400, 401, 404),
      },
    },
    handler: async (request) => {
      const member = memberOf(request)
      const { limit = 50, before } = request.query
      const issues: Issue[] = []
      const time = before === undefined ? null : readTime('before', before, issues)
      if (issues.length > 0) throw new InvalidInput(issues, 'query')
      const keyring = await vault.keyring(member.workspaceId)
      const page = await readMessages(db.sql, keyring, scopeOf(member), request.params.id, { before: time, limit })
      return { messages: page.messages.map(presentTeamMessage), hasMore: page.hasMore }
    },
  })
}
