import { Type } from 'typebox'
import { forbidden } from '../../base/errors.ts'
import { nullable, oneOf, titled } from '../../base/route.ts'
import { text, unpaged } from '../../base/schema-types.ts'
import type { TeamApi } from '../../team/team-api.ts'
import { closed, idSchema } from '../../team/team-schema.ts'
import type { InboxDeps } from '../conversation/conversation.ts'
import { conversationNotFound } from '../conversation/errors.ts'
import { findConversation } from '../conversation/queries.ts'
import { conversationsPath } from './inbox-request.ts'
import { TeamConversationParams } from './inbox-schema.ts'
import { type OpenConversation, type Presence, presenceStates, presentPeople, ttlMs } from './live-updates.ts'

const path = `${conversationsPath}/:id/presence`

const People = Type.Object({
  people: Type.Array(
    titled('Presence', {
      userId: idSchema('The member.'),
      name: nullable(text(100, 'Who that is.', { example: 'Ana Lima' })),
      state: oneOf(presenceStates, { description: 'What they do.', example: 'viewing' }),
    }),
    unpaged,
  ),
})

/** Who else has a conversation open. */
export function presenceRoutes(api: TeamApi, deps: InboxDeps & { presence: Presence }): void {
  const { db, presence } = deps
  const openConversationOf = async (workspaceId: string, id: string): Promise<OpenConversation> => {
    const row = await findConversation(db.sql, { workspaceId, connectionIds: [] }, id)
    if (row === undefined) throw conversationNotFound()
    return { workspaceId, conversationId: row.id }
  }
  api.get(path, 'member', {
    operationId: 'getPresence',
    summary: 'See who has a conversation open',
    description: 'As of now, the caller among them.',
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
    summary: 'Say that I have a conversation open',
    description: `Believed for ${ttlMs / 1000} seconds: say it again every ten, and \`gone\` on leaving. Others hear of it by \`team.presence\` on the live stream. For members (a token has nothing open: 403).`,
    params: TeamConversationParams,
    body: Type.Object({ state: oneOf([...presenceStates, 'gone'] as const, { example: 'typing' }) }, closed),
    answers: { 200: People },
    run: async ({ member, params, body }) => {
      const { workspaceId, userId } = member
      if (userId === null) throw forbidden('A token has no conversation open. Sign in as a member.')
      const conversation = await openConversationOf(workspaceId, params.id)
      const { state } = body
      presence.set(conversation, userId, state === 'gone' ? null : state)
      return { people: await presentPeople(deps, presence, conversation) }
    },
  })
}
