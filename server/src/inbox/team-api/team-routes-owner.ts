import { type App, errors } from '../../base/route.ts'
import { memberOf, type TeamGuard } from '../../team/member.ts'
import type { InboxDeps } from '../conversation/conversation.ts'
import { agent, human } from '../conversation/owner.ts'
import { updateConversation } from '../ownership/update.ts'
import { conversationRoute, conversationsPath, oneConversation, scopeOf, showOne } from './team-request.ts'
import { HandBack, TeamConversationParams } from './team-schema.ts'

export function serveTakeOver(app: App, deps: InboxDeps, guard: TeamGuard): void {
  app.route({
    method: 'POST',
    url: `${conversationsPath}/:id/take-over`,
    onRequest: guard.member('member'),
    schema: {
      ...conversationRoute,
      operationId: 'takeOverConversation',
      summary: 'Take a conversation over',
      description: 'It belongs to people from then on: no send of its agent starts once this is answered.',
      params: TeamConversationParams,
      response: { 200: oneConversation, ...errors(400, 401, 404, 413, 415) },
    },
    handler: async (request) => {
      const member = memberOf(request)
      const patch = { owner: human }
      const conversation = await updateConversation(deps, scopeOf(member), member.actor, request.params.id, patch)
      return { conversation: await showOne(deps, member.workspaceId, conversation) }
    },
  })
}

export function serveHandBack(app: App, deps: InboxDeps, guard: TeamGuard): void {
  app.route({
    method: 'POST',
    url: `${conversationsPath}/:id/hand-back`,
    onRequest: guard.member('member'),
    schema: {
      ...conversationRoute,
      operationId: 'handBackConversation',
      summary: 'Hand a conversation to an agent',
      description:
        'The note is kept with the conversation. 409 when the key is not active, lacks `inbox.write` or does not allow the connection; 403 while agents are stopped.',
      params: TeamConversationParams,
      body: HandBack,
      response: { 200: oneConversation, ...errors(400, 401, 403, 404, 409, 413, 415) },
    },
    handler: async (request) => {
      const member = memberOf(request)
      const { keyId, note } = request.body
      const patch = { owner: agent(keyId.toLowerCase()), ...(note === undefined ? {} : { note: writeNote(note) }) }
      const conversation = await updateConversation(deps, scopeOf(member), member.actor, request.params.id, patch)
      return { conversation: await showOne(deps, member.workspaceId, conversation) }
    },
  })
}

function writeNote({ summary, reason, nextStep }: NonNullable<HandBack['note']>): string {
  const lines = [
    `Summary: ${summary}`,
    ...(reason ? [`Reason: ${reason}`] : []),
    ...(nextStep ? [`Next step: ${nextStep}`] : []),
  ]
  return lines.join('\n')
}
