import { Type } from 'typebox'
import { type App, errors, nullable, timestamp, titled } from '../../base/route.ts'
import { count, text, unpaged } from '../../base/schema-types.ts'
import { memberOf, type TeamGuard } from '../../team/member.ts'
import { idSchema, teamRoute } from '../../team/team-schema.ts'
import { leadReader } from '../lead/identify.ts'
import type { Lead, LeadDeps } from '../lead/lead.ts'
import { NoQuery } from '../lead/schema.ts'
import { otherPhones } from '../lead/search-lines.ts'
import { leadsPath, leadUserOf, ofLead } from './team-request.ts'

/** What is shown of a chat with a lead; whoever keeps the chats finds it. */
export interface LeadConversation {
  id: string
  connectionId: string
  channel: string
  owner: string
  status: string
  assignedTo: string | null
  unreadCount: number
  lastMessageAt: Date
  unansweredSince: Date | null
  lastMessage: { direction: 'inbound' | 'outbound'; kind: string; text: string } | null
}

export interface ConversationDeps extends LeadDeps {
  /** The conversations with these phones, in any of their variants, those with the newest message first. */
  conversationsOf(workspaceId: string, phones: readonly string[]): Promise<LeadConversation[]>
}

const Conversation = titled('LeadConversation', {
  id: idSchema('The conversation.'),
  connectionId: idSchema('The chat connection.'),
  channel: text(20, 'How the customer is reached.', { example: 'waba' }),
  owner: text(50, '`human` or `agent:<key id>`.', { example: 'human' }),
  status: text(20, 'Of the conversation.', { example: 'open' }),
  assignedTo: nullable(idSchema('The member it is assigned to.')),
  unreadCount: count('Customer messages that nobody has read.', { example: 1 }),
  lastMessageAt: timestamp('When its newest message was sent.'),
  unansweredSince: nullable(timestamp('Since when the customer has waited; null when answered.')),
  lastMessage: nullable(
    Type.Object({
      direction: Type.Unsafe<'inbound' | 'outbound'>({ type: 'string', enum: ['inbound', 'outbound'] }),
      kind: text(20, 'As in the messages.', { example: 'text' }),
      text: text(200, 'Its first 200 characters.', { example: 'Hello!' }),
    }),
  ),
})

/** The lead's phone, and those that it has by a merge. */
export const phonesOf = (lead: Lead): string[] => [...(lead.phone === null ? [] : [lead.phone]), ...otherPhones(lead)]

/** The chats with a lead. */
export function conversationsTeamRoute(app: App, deps: ConversationDeps, guard: TeamGuard): void {
  const readLead = leadReader(deps)
  app.route({
    method: 'GET',
    url: `${leadsPath}/:identifier/conversations`,
    onRequest: guard.member('member'),
    schema: {
      ...teamRoute('Team leads'),
      operationId: 'listLeadConversations',
      summary: 'List the conversations of a lead',
      description: 'Those with its phone, in any of its common variants; the one with the newest message first.',
      params: ofLead,
      querystring: NoQuery,
      response: {
        200: Type.Object({ conversations: Type.Array(Conversation, unpaged) }),
        ...errors(400, 401, 403, 404),
      },
    },
    handler: async (request) => {
      const user = leadUserOf(memberOf(request))
      const lead = await readLead(user, request.params.identifier)
      const found = await deps.conversationsOf(user.workspaceId, phonesOf(lead))
      return { conversations: found.map(present) }
    },
  })
}

function present(one: LeadConversation) {
  return {
    ...one,
    lastMessageAt: one.lastMessageAt.toISOString(),
    unansweredSince: one.unansweredSince?.toISOString() ?? null,
  }
}
