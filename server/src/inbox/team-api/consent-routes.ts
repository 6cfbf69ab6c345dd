import { Type } from 'typebox'
import { oneOf } from '../../base/route.ts'
import { consentDecisions, consentPurposes } from '../../consents/consent.ts'
import type { TeamApi } from '../../team/team-api.ts'
import { strict } from '../api/schema.ts'
import { setConsent } from '../consent/set-consent.ts'
import type { InboxDeps } from '../conversation/conversation.ts'
import { conversationResponse, conversationsPath, presentOne, scopeOf } from './inbox-request.ts'
import { TeamConversationParams } from './inbox-schema.ts'

const consentPurpose = Type.Optional(
  oneOf(consentPurposes, {
    default: 'marketing',
    description: 'About marketing, or about templates of the category utility.',
  }),
)
const ConsentBody = strict({
  decision: oneOf(consentDecisions, { description: 'What the customer has told you.' }),
  purpose: consentPurpose,
})
const UndoQuery = strict({ purpose: consentPurpose })

export function consentRoutes(api: TeamApi, deps: InboxDeps): void {
  const path = `${conversationsPath}/:id/marketing-consent`
  api.put(path, 'member', {
    operationId: 'setMarketingConsent',
    summary: "Record a customer's marketing consent",
    description:
      'Applies to the customer on every connection. Templates with that purpose are refused for a customer who has opted out, until they opt in again.',
    params: TeamConversationParams,
    body: ConsentBody,
    answers: { 200: conversationResponse },
    errors: [409],
    run: async ({ member, params, body }) => {
      const conversation = await setConsent(deps, scopeOf(member), member.actor, params.id, body.decision, body.purpose)
      return { conversation: await presentOne(deps, member.workspaceId, conversation) }
    },
  })
  api.delete(path, 'member', {
    operationId: 'undoMarketingConsent',
    summary: 'Undo a recorded marketing consent',
    description:
      'Takes back your own last decision as if you had not recorded it, within 10 minutes. 409 if the customer has decided since.',
    params: TeamConversationParams,
    query: UndoQuery,
    answers: { 200: conversationResponse },
    errors: [409],
    run: async ({ member, params, query }) => {
      const conversation = await setConsent(deps, scopeOf(member), member.actor, params.id, 'undo', query.purpose)
      return { conversation: await presentOne(deps, member.workspaceId, conversation) }
    },
  })
}
