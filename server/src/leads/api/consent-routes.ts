import { type Static, Type } from 'typebox'
import { conflict } from '../../base/errors.ts'
import { nullable, oneOf, timestamp, titled } from '../../base/route.ts'
import { uuid } from '../../base/schema-types.ts'
import {
  type ConsentDecision,
  type ConsentPurpose,
  consentDecisions,
  consentPurposes,
  consentSources,
} from '../../consents/consent.ts'
import { listConsents, maxConsents, maxListed } from '../../consents/store.ts'
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
    purpose?: ConsentPurpose,
  ): Promise<void>
}

const LeadConsent = titled('LeadConsent', {
  id: idSchema('The entry.'),
  purpose: oneOf(consentPurposes, {
    description: 'What it is about: marketing, or templates of the category utility.',
  }),
  decision: oneOf(consentDecisions, { description: 'What was decided.' }),
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

const Consents = titled('LeadConsents', {
  current: nullable(LeadConsent),
  utility: Type.Union([LeadConsent, Type.Null()], {
    description: 'The current decision about templates of the category utility; `current` is about marketing.',
  }),
  history: Type.Array(LeadConsent, { maxItems: maxListed, description: 'Newest first, `current` included.' }),
})

const consentPurpose = Type.Optional(oneOf(consentPurposes, { default: 'marketing', description: 'What it is about.' }))
const ConsentBody = Type.Object(
  { decision: oneOf(consentDecisions, { description: 'What the person has told you.' }), purpose: consentPurpose },
  closed,
)
const UndoQuery = Type.Object({ purpose: consentPurpose }, closed)

export function consentRoutes(api: TeamApi, deps: ConsentDeps): void {
  const readLead = makeLeadReader(deps)
  const read = async (workspaceId: string, lead: Lead | ListedLead): Promise<Static<typeof Consents>> => {
    const keyring = await deps.keyStore.keyring(workspaceId)
    const rows = await listConsents(deps.db.sql, keyring, workspaceId, phonesOf(lead))
    const history = rows.map(({ id, purpose, decision, source, actor, decidedAt, isLate }) => {
      return { id, purpose, decision, source, actor, at: decidedAt.toISOString(), counts: !isLate }
    })
    const currentOf = (about: ConsentPurpose) =>
      history.find(({ purpose, counts }) => counts && purpose === about) ?? null
    return { current: currentOf('marketing'), utility: currentOf('utility'), history }
  }
  const set = async (
    member: Member,
    identifier: string,
    decision: ConsentDecision | 'undo',
    purpose: ConsentPurpose | undefined,
  ) => {
    const lead = await readLead(leadUserOfMember(member), identifier)
    const phones = phonesOf(lead)
    if (phones.length === 0) throw conflict('This lead has no phone. Add one, then record the decision.')
    await deps.setConsentOfPhones(member.workspaceId, member.actor, phones, decision, purpose)
    return read(member.workspaceId, lead)
  }
  const path = `${leadsPath}/:identifier/marketing-consent`
  const answers = { 200: Consents }
  api.get(path, 'member', {
    operationId: 'getLeadMarketingConsent',
    summary: "Get a lead's marketing consent",
    description: `The current decision of the person with the lead's phones, and the last ${maxConsents} decisions about each purpose.`,
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
    run: ({ member, params, body }) => set(member, params.identifier, body.decision, body.purpose),
  })
  api.delete(path, 'member', {
    operationId: 'undoLeadMarketingConsent',
    summary: "Undo a lead's recorded marketing consent",
    description:
      'Takes back your own last decision as if you had not recorded it, within 10 minutes. 409 if the person has decided since.',
    params: leadPathParams,
    query: UndoQuery,
    answers,
    errors: [409],
    run: ({ member, params, query }) => set(member, params.identifier, 'undo', query.purpose),
  })
}
