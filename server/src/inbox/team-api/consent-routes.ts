import { oneOf } from '../../base/route.ts'
import { consentDecisions } from '../../consents/consent.ts'
import type { TeamApi } from '../../team/team-api.ts'
import { strict } from '../api/schema.ts'
import { setConsent } from '../consent/set-consent.ts'
import type { InboxDeps } from '../conversation/conversation.ts'
import { conversationResponse, conversationsPath, presentOne, scopeOf } from './inbox-request.ts'
import { TeamConversationParams } from './inbox-schema.ts'

const ConsentBody = strict({
  decision: oneOf(consentDecisions, { description: 'What the customer has told you.' }),
})

export function consentRoutes(api: TeamApi, deps: InboxDeps): void {
  const path = `${conversationsPath}/:id/marketing-consent`
  api.put(path, 'member', {
    operationId: 'setMarketingConsent',
    summary: "Record a customer's marketing consent",
    description:
      'Applies to the customer on every connection. Marketing templates are refused for a customer who has opted out, until they opt in again.',
    params: TeamConversationParams,
    body: ConsentBody,
    answers: { 200: conversationResponse },
    errors: [409],
    run: async ({ member, params, body }) => {
      const conversation = await setConsent(deps, scopeOf(member), member.actor, params.id, body.decision)
      return { conversation: await presentOne(deps, member.workspaceId, conversation) }
    },
  })
  api.delete(path, 'member', {
    operationId: 'undoMarketingConsent',
    summary: 'Undo a recorded marketing consent',
    description:
      'Takes back your own last decision as if you had not recorded it, within 10 minutes. 409 if the customer has decided since.',
    params: TeamConversationParams,
    answers: { 200: conversationResponse },
    errors: [409],
    run: async ({ member, params }) => {
      const conversation = await setConsent(deps, scopeOf(member), member.actor, params.id, 'undo')
      return { conversation: await presentOne(deps, member.workspaceId, conversation) }
    },
  })
}
