import { Type } from 'typebox'
import { forbidden } from '../../base/errors.ts'
import { nullable, oneOf, titled } from '../../base/route.ts'
import { text, unpaged } from '../../base/schema-types.ts'
import type { TeamApi } from '../../team/team-api.ts'
import { closed, idSchema } from '../../team/team-schema.ts'
import type { InboxDeps } from '../conversation/conversation.ts'
import { requireConversation } from '../conversation/queries.ts'
import type { Typing } from '../read/typing.ts'
import { conversationsPath, scopeOf } from './inbox-request.ts'
import { TeamConversationParams } from './inbox-schema.ts'
import { type OpenConversation, type Presence, presenceStates, presentPeople, ttlMs } from './live-updates.ts'

const path = `${conversationsPath}/:id/presence`

const People = Type.Object({
  people: Type.Array(
    titled('Presence', {
      userId: idSchema('Member id.'),
      name: nullable(text(100, 'Name of the member.', { example: 'Ana Lima' })),
      state: oneOf(presenceStates, { description: 'What the member is doing.', example: 'viewing' }),
    }),
    unpaged,
  ),
})

export function presenceRoutes(api: TeamApi, deps: InboxDeps & { presence: Presence; typing: Typing }): void {
  const { db, presence, typing } = deps
  const openConversationOf = async (workspaceId: string, id: string): Promise<OpenConversation> => {
    const row = await requireConversation(db.sql, { workspaceId, connectionIds: [] }, id)
    return { workspaceId, conversationId: row.id }
  }
  api.get(path, 'member', {
    operationId: 'getPresence',
    summary: 'List who has a conversation open',
    description: 'Current state, including the caller.',
    params: TeamConversationParams,
    answers: { 200: People },
    allErrors: [400, 401, 404],
    run: async ({ member, params }) => {
      const { workspaceId } = member
      const conversation = await openConversationOf(workspaceId, params.id)
      return { people: await presentPeople(deps, presence, conversation) }
    },
  })
  api.post(path, 'member', {
    operationId: 'reportPresence',
    summary: 'Report that I have a conversation open',
    description: `Valid for ${ttlMs / 1000} seconds: report again every 13, and \`gone\` on leaving. Others receive \`team.presence\` on the live stream. Only for members: tokens get 403.`,
    params: TeamConversationParams,
    body: Type.Object(
      {
        state: oneOf([...presenceStates, 'gone'] as const, { example: 'typing' }),
        toCustomer: Type.Optional(
          Type.Boolean({
            description:
              'With `typing`: a message, which the customer is shown for 25 seconds unless an agent owns the conversation; not a note.',
          }),
        ),
      },
      closed,
    ),
    answers: { 200: People },
    run: async ({ member, params, body }) => {
      const { workspaceId, userId } = member
      if (userId === null) throw forbidden('Tokens cannot report presence. Sign in as a member.')
      const conversation = await openConversationOf(workspaceId, params.id)
      const { state, toCustomer = false } = body
      const wasTyping = presence.list(conversation).some((one) => one.userId === userId && one.state === 'typing')
      presence.set(conversation, userId, state === 'gone' ? null : state)
      const isTyping = presence.list(conversation).some((one) => one.state === 'typing')
      // Before the response, so that the next report of the page cannot overtake it.
      if (state === 'typing' && toCustomer) await typing.show('people', scopeOf(member), conversation.conversationId)
      else if (wasTyping && !isTyping) await typing.stop(scopeOf(member), conversation.conversationId)
      return { people: await presentPeople(deps, presence, conversation) }
    },
  })
}
