import type { FastifySchema } from 'fastify'
import { Type } from 'typebox'
import { conflict, forbidden, unavailable } from '../../base/errors.ts'
import type { App } from '../../base/route.ts'
import { type Member, memberOf, type TeamGuard } from '../../team/member.ts'
import { teamRoute, workspaceParams } from '../../team/team-schema.ts'
import { answerSend, conversationParam, judgedByVerb, noQuery, sendAnswers } from '../api/send-routes.ts'
import { readDetails } from '../read/read-details.ts'
import { sendMessage } from '../send/send.ts'
import type { SendDeps } from '../send/send-deps.ts'
import { ThreadMoved } from '../send/send-errors.ts'
import { memberRefusal, SendHeaders, TeamSend } from '../send/send-schema.ts'
import { presentTeamMessage } from './team-present.ts'

/** The member's send: it makes the conversation `human`. */
export function sendTeamRoutes(app: App, deps: SendDeps, guard: Pick<TeamGuard, 'member'>): void {
  app.route({
    method: 'POST',
    url: '/api/team/v1/workspaces/:workspaceId/inbox/conversations/:id/messages',
    onRequest: guard.member('member'),
    ...judgedByVerb,
    schema: {
      ...teamRoute('Team inbox'),
      operationId: 'sendMessageAsMember',
      summary: 'Write to the customer',
      description:
        'As in the inbox interface, for any conversation of the workspace; and beside text and templates files (`media`, with an upload of the conversation) and reactions, with a quote where wanted. The conversation becomes `human` in the same step and, if nobody is assigned, assigned to the member, but for a reaction. With `if_last_message_id` nothing is sent when the thread has moved since. A file is given to the platform first, so that the answer may take minutes.',
      params: Type.Object({ ...workspaceParams, ...conversationParam }),
      headers: SendHeaders,
      querystring: noQuery,
      body: TeamSend,
      response: { ...sendAnswers, 409: memberRefusal },
    } satisfies FastifySchema,
    handler: async (request, reply) => {
      const member = memberOf(request)
      admitToInbox(member)
      const sender = { workspaceId: member.workspaceId, connectionIds: [], actor: member.actor }
      return answerSend((...asked) => sendMessage(deps, ...asked), sender, request, reply).catch((error) =>
        showNewer(deps, member.workspaceId, error),
      )
    },
  })
}

export function admitToInbox({ workspace }: Member): void {
  if (!workspace.inboxEnabled) throw forbidden('The plan of this workspace does not include the inbox')
  if (!workspace.inboxAvailable) {
    throw unavailable('The inbox is not available for this workspace at the moment', { code: 'CHAT_INBOX_UNAVAILABLE' })
  }
}

async function showNewer(deps: SendDeps, workspaceId: string, error: unknown): Promise<never> {
  if (!(error instanceof ThreadMoved)) throw error
  const details = await readDetails(deps, workspaceId, [error.newer])
  throw conflict(error.message, { ...error.data, message: presentTeamMessage(error.newer, () => null, details) })
}
