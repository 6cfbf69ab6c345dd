import { Type } from 'typebox'
import { forbidden } from '../../base/errors.ts'
import { type App, errors, nullable, oneOf, titled } from '../../base/route.ts'
import { text, unpaged } from '../../base/schema-types.ts'
import { memberOf, type TeamGuard } from '../../team/member.ts'
import { closed, idSchema } from '../../team/team-schema.ts'
import type { InboxDeps } from '../conversation/conversation.ts'
import { conversationNotFound } from '../conversation/errors.ts'
import { findConversation } from '../conversation/queries.ts'
import { type OpenConversation, type Presence, presenceStates, presentForMs } from './presence.ts'
import { presentPeople } from './team-live.ts'
import { conversationRoute, conversationsPath } from './team-request.ts'
import { TeamConversationParams } from './team-schema.ts'

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
export function servePresence(app: App, deps: InboxDeps & { presence: Presence }, guard: TeamGuard): void {
  const { db, presence } = deps
  const openConversationOf = async (workspaceId: string, id: string): Promise<OpenConversation> => {
    const row = await findConversation(db.sql, { workspaceId, connectionIds: [] }, id)
    if (row === undefined) throw conversationNotFound()
    return { workspaceId, conversationId: row.id }
  }
  app.route({
    method: 'GET',
    url: path,
    onRequest: guard.member('member'),
    schema: {
      ...conversationRoute,
      operationId: 'getPresence',
      summary: 'See who has a conversation open',
      description: 'As of now, the caller among them.',
      params: TeamConversationParams,
      response: { 200: People, ...errors(400, 401, 404) },
    },
    handler: async (request) => {
      const { workspaceId } = memberOf(request)
      const conversation = await openConversationOf(workspaceId, request.params.id)
      return { people: await presentPeople(deps, presence, conversation) }
    },
  })
  app.route({
    method: 'POST',
    url: path,
    onRequest: guard.member('member'),
    schema: {
      ...conversationRoute,
      operationId: 'reportPresence',
      summary: 'Say that I have a conversation open',
      description: `Believed for ${presentForMs / 1000} seconds: say it again every ten, and \`gone\` on leaving. Others hear of it by \`team.presence\` on the live stream. For members (a token has nothing open: 403).`,
      params: TeamConversationParams,
      body: Type.Object({ state: oneOf([...presenceStates, 'gone'] as const, { example: 'typing' }) }, closed),
      response: { 200: People, ...errors(400, 401, 403, 404, 413, 415) },
    },
    handler: async (request) => {
      const { workspaceId, userId } = memberOf(request)
      if (userId === null) throw forbidden('A token has no conversation open. Sign in as a member.')
      const conversation = await openConversationOf(workspaceId, request.params.id)
      const { state } = request.body
      presence.say(conversation, userId, state === 'gone' ? null : state)
      return { people: await presentPeople(deps, presence, conversation) }
    },
  })
}
