import { type App, errors } from '../../base/route.ts'
import { memberOf, type TeamGuard } from '../../team/member.ts'
import type { InboxDeps } from '../conversation/conversation.ts'
import { human } from '../conversation/owner.ts'
import { handToAgent, offerToAgents } from '../ownership/hand-on.ts'
import type { HandoverWords } from '../ownership/handovers.ts'
import { updateConversation } from '../ownership/update.ts'
import { conversationRoute, conversationsPath, oneConversation, scopeOf, showOne } from './team-request.ts'
import { HandBack, type HandoverNote, Offer, TeamConversationParams } from './team-schema.ts'

export function serveTakeOver(app: App, deps: InboxDeps, guard: TeamGuard): void {
  app.route({
    method: 'POST',
    url: `${conversationsPath}/:id/take-over`,
    onRequest: guard.member('member'),
    schema: {
      ...conversationRoute,
      operationId: 'takeOverConversation',
      summary: 'Take a conversation over',
      description:
        'It belongs to people from then on: no send of its agent starts once this is answered, and agents leave it alone until it is handed to one or offered to all (`agentsMayTakeBack` of the workspace). A member has it assigned then, unless it is assigned to somebody.',
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
        'The agent reads the note, and it is an item of the timeline. What was assigned to the calling member is assigned to nobody then. 409 when the key is not active, lacks `inbox.write` or does not allow the connection; 403 while agents are stopped.',
      params: TeamConversationParams,
      body: HandBack,
      response: { 200: oneConversation, ...errors(400, 401, 403, 404, 409, 413, 415) },
    },
    handler: async (request) => {
      const member = memberOf(request)
      const { keyId, note } = request.body
      const ask = { conversationId: request.params.id, keyId: keyId.toLowerCase(), words: wordsOf(note) }
      const { conversation } = await handToAgent(deps, scopeOf(member), member.actor, ask)
      return { conversation: await showOne(deps, member.workspaceId, conversation) }
    },
  })
}

export function serveOffer(app: App, deps: InboxDeps, guard: TeamGuard): void {
  app.route({
    method: 'POST',
    url: `${conversationsPath}/:id/offer`,
    onRequest: guard.member('member'),
    schema: {
      ...conversationRoute,
      operationId: 'offerConversation',
      summary: 'Offer a conversation to agents',
      description:
        'People own it until an agent takes it; whichever does first has it, and reads the note. What was assigned to the calling member is assigned to nobody then. 409 when an agent has it already; 403 while agents are stopped.',
      params: TeamConversationParams,
      body: Offer,
      response: { 200: oneConversation, ...errors(400, 401, 403, 404, 409, 413, 415) },
    },
    handler: async (request) => {
      const member = memberOf(request)
      const offer = { conversationId: request.params.id, words: wordsOf(request.body.note) }
      const { conversation } = await offerToAgents(deps, scopeOf(member), member.actor, offer)
      return { conversation: await showOne(deps, member.workspaceId, conversation) }
    },
  })
}

function wordsOf(note: HandoverNote | undefined): HandoverWords | null {
  if (note === undefined) return null
  const { summary, reason, nextStep } = note
  return { summary, reason: reason?.trim() ? reason : null, nextStep: nextStep?.trim() ? nextStep : null }
}
