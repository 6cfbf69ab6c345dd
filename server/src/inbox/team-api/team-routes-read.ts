import { Type } from 'typebox'
import { InvalidInput, type Issue } from '../../base/errors.ts'
import { type App, errors, timestamp } from '../../base/route.ts'
import { page } from '../../base/schema-types.ts'
import { memberOf, type TeamGuard } from '../../team/member.ts'
import { readTime } from '../api/list-request.ts'
import { MessagesQuery } from '../api/schema.ts'
import type { InboxDeps, LeadCard } from '../conversation/conversation.ts'
import { conversationNotFound } from '../conversation/errors.ts'
import { findFirstMessageTime, findReferral } from '../conversation/message-queries.ts'
import { findConversation } from '../conversation/queries.ts'
import { openConversation } from '../conversation/sealed.ts'
import { listNotes } from '../notes/notes.ts'
import { namedActors, readNames } from '../read/names.ts'
import { readDetails } from '../read/read-details.ts'
import { readMessages } from '../read/read-messages.ts'
import { teamMessageColumns } from '../read/shown-message.ts'
import { presentTeamMessage, presentTeamNotes } from './team-present.ts'
import { conversationRoute, conversationsPath, scopeOf, showOne } from './team-request.ts'
import { TeamConversation, TeamConversationParams, TeamLead, TeamMessage, TeamNote } from './team-schema.ts'

const nullableLead = Type.Union([TeamLead, Type.Null()])

export function serveTeamConversation(app: App, deps: InboxDeps, guard: TeamGuard): void {
  const { db, vault, leadOf } = deps
  app.route({
    method: 'GET',
    url: `${conversationsPath}/:id`,
    onRequest: guard.member('member'),
    schema: {
      ...conversationRoute,
      operationId: 'getConversationAsMember',
      summary: 'Read a conversation',
      description:
        'With its newest 200 notes, oldest first, the lead with the phone of the customer, and the ad that they came by last.',
      params: TeamConversationParams,
      response: {
        200: Type.Object({
          conversation: TeamConversation,
          notes: Type.Array(TeamNote, { maxItems: 200 }),
          lead: nullableLead,
          firstContactAt: timestamp('When it began: at its first message at the latest.'),
          referral: TeamMessage.properties.referral,
        }),
        ...errors(400, 401, 404),
      },
    },
    handler: async (request) => {
      const member = memberOf(request)
      const keyring = await vault.keyring(member.workspaceId)
      const row = await findConversation(db.sql, scopeOf(member), request.params.id)
      if (row === undefined) throw conversationNotFound()
      const opened = openConversation(keyring, row)
      const { phone } = opened.contact
      const [conversation, notes, found, referral, firstMessageAt] = await Promise.all([
        showOne(deps, member.workspaceId, opened),
        listNotes(db.sql, keyring, member.workspaceId, row.id),
        phone === null ? null : leadOf(member.workspaceId, phone),
        findReferral(db.sql, keyring, member.workspaceId, row.id),
        findFirstMessageTime(db.sql, member.workspaceId, row.id),
      ])
      return {
        conversation,
        notes: await presentTeamNotes(deps, member.workspaceId, notes),
        lead: found && cardOf(found),
        firstContactAt: earlier(opened.createdAt, firstMessageAt).toISOString(),
        referral,
      }
    },
  })
}

// It is made when its first message is taken in, and a phone's history reaches further back than that.
const earlier = (one: Date, other: Date | null): Date => (other !== null && other < one ? other : one)

const cardOf = ({ numbers: _, ...card }: LeadCard) => card

export function serveTeamMessages(app: App, { db, vault }: InboxDeps, guard: TeamGuard): void {
  app.route({
    method: 'GET',
    url: `${conversationsPath}/:id/messages`,
    onRequest: guard.member('member'),
    schema: {
      ...conversationRoute,
      operationId: 'listMessagesAsMember',
      summary: "List a conversation's messages",
      description: 'The newest `limit`, oldest first. For older ones repeat with `before`.',
      params: TeamConversationParams,
      querystring: MessagesQuery,
      response: {
        200: Type.Object({ messages: Type.Array(TeamMessage, page), hasMore: Type.Boolean() }),
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
      const columns = teamMessageColumns(db.sql, member.workspaceId)
      const asked = { before: time, limit, columns }
      const { messages, hasMore } = await readMessages(db.sql, keyring, scopeOf(member), request.params.id, asked)
      const [names, details] = await Promise.all([
        readNames({ db, vault }, member.workspaceId, namedActors(messages.map(({ actor }) => actor))),
        readDetails({ db, vault }, member.workspaceId, messages),
      ])
      return { messages: messages.map((each) => presentTeamMessage(each, names, details)), hasMore }
    },
  })
}
