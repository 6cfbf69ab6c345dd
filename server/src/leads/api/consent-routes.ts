import { type Static, Type } from 'typebox'
import { conflict } from '../../base/errors.ts'
import { nullable, oneOf, timestamp, titled } from '../../base/route.ts'
import { uuid } from '../../base/schema-types.ts'
import { type ConsentDecision, consentDecisions, consentSources } from '../../consents/consent.ts'
import { listConsents, maxConsents } from '../../consents/store.ts'
import type { Member } from '../../team/member.ts'
import type { TeamApi } from '../../team/team-api.ts'
import { closed, idSchema } from '../../team/team-schema.ts'
import type { Actor } from '../../workspaces/actor.ts'
import { makeLeadReader } from '../lead/find-lead.ts'
import type { Lead, LeadDeps, ListedLead } from '../lead/lead.ts'
import { NoQuery } from '../lead/schema.ts'
import { phonesOf } from '../lead/search-lines.ts'
import { leadPathParams, leadsPath, leadUserOfMember } from './lead-request.ts'

export interface ConsentDeps extends LeadDeps {
  /** Records a decision for these phones, or takes the actor's last one back, also in their conversations. */
  setConsentOfPhones(
    workspaceId: string,
    actor: Actor,
    phones: readonly string[],
    decision: ConsentDecision | 'undo',
  ): Promise<void>
}

const LeadConsent = titled('LeadConsent', {
  id: idSchema('The entry.'),
  decision: oneOf(consentDecisions, { description: 'What was decided about marketing messages.' }),
  source: oneOf(consentSources, {
    description:
      'Where: `platform` in the settings on the platform, `platform_error` shown by a refused message, `keyword` by a message, `form`, `member` recorded by the team, `agent` by an API key.',
  }),
  actor: Type.Object({
    type: oneOf(['agent', 'user', 'token', 'form', 'system'], {
      description: 'An API key, a member, a team token, a lead form, or the service itself.',
    }),
    id: nullable(uuid('Null for `system`.')),
  }),
  at: timestamp('When it was recorded here.'),
  counts: Type.Boolean({ description: 'False: it arrived after a newer decision, and changed nothing.' }),
})

const Consents = Type.Object({
  current: nullable(LeadConsent),
  history: Type.Array(LeadConsent, { maxItems: maxConsents, description: 'Newest first, `current` included.' }),
})

const ConsentBody = Type.Object(
  { decision: oneOf(consentDecisions, { description: 'What the person has told you.' }) },
  closed,
)

export function consentRoutes(api: TeamApi, deps: ConsentDeps): void {
  const readLead = makeLeadReader(deps)
  const read = async (workspaceId: string, lead: Lead | ListedLead): Promise<Static<typeof Consents>> => {
    const keyring = await deps.keyStore.keyring(workspaceId)
    const rows = await listConsents(deps.db.sql, keyring, workspaceId, phonesOf(lead))
    const history = rows.map(({ id, decision, source, actor, decidedAt, isLate }) => {
      return { id, decision, source, actor, at: decidedAt.toISOString(), counts: !isLate }
    })
    return { current: history.find(({ counts }) => counts) ?? null, history }
  }
  const set = async (member: Member, identifier: string, decision: ConsentDecision | 'undo') => {
    const lead = await readLead(leadUserOfMember(member), identifier)
    const phones = phonesOf(lead)
    if (phones.length === 0) throw conflict('This lead has no phone. Add one, then record the decision.')
    await deps.setConsentOfPhones(member.workspaceId, member.actor, phones, decision)
    return read(member.workspaceId, lead)
  }
  const path = `${leadsPath}/:identifier/marketing-consent`
  const answers = { 200: Consents }
  api.get(path, 'member', {
    operationId: 'getLeadMarketingConsent',
    summary: "Get a lead's marketing consent",
    description: `The current decision of the person with the lead's phones, and the last ${maxConsents} decisions.`,
    params: leadPathParams,
    query: NoQuery,
    answers,
    run: async ({ member, params }) =>
      read(member.workspaceId, await readLead(leadUserOfMember(member), params.identifier)),
  })
  api.put(path, 'member', {
    operationId: 'setLeadMarketingConsent',
    summary: "Record a lead's marketing consent",
    description: 'Applies to each phone of the lead, and to its conversations on every connection.',
    params: leadPathParams,
    query: NoQuery,
    body: ConsentBody,
    answers,
    errors: [409],
    run: ({ member, params, body }) => set(member, params.identifier, body.decision),
  })
  api.delete(path, 'member', {
    operationId: 'undoLeadMarketingConsent',
    summary: "Undo a lead's recorded marketing consent",
    description:
      'Takes back your own last decision as if you had not recorded it, within 10 minutes. 409 if the person has decided since.',
    params: leadPathParams,
    query: NoQuery,
    answers,
    errors: [409],
    run: ({ member, params }) => set(member, params.identifier, 'undo'),
  })
}
