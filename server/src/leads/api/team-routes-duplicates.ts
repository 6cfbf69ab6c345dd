import { Type } from 'typebox'
import { maxPhoneLength } from '../../base/phone/phone.ts'
import { type App, errors, oneOf, titled } from '../../base/route.ts'
import { memberOf, type TeamGuard } from '../../team/member.ts'
import { closed, teamRoute } from '../../team/team-schema.ts'
import type { LeadDeps } from '../lead/lead.ts'
import { presentDetail } from '../lead/present.ts'
import { LeadDetail, NoQuery } from '../lead/schema.ts'
import { checkDuplicates, type Duplicate, findDuplicates } from '../search/duplicates.ts'
import { leadsPath, leadUserOf, ofLead, ofWorkspace } from './team-request.ts'

const Duplicates = Type.Object({
  duplicates: Type.Array(
    titled('LeadDuplicate', {
      lead: LeadDetail,
      same: Type.Array(oneOf(['phone', 'email']), { maxItems: 2, description: 'What it has in common.' }),
    }),
    { maxItems: 20, description: 'At most 20, the oldest first.' },
  ),
})

const Check = Type.Object(
  {
    phone: Type.Optional(
      Type.String({ maxLength: maxPhoneLength, description: 'As typed; half a number finds nobody.' }),
    ),
    email: Type.Optional(Type.String({ maxLength: 254, description: 'As typed.' })),
  },
  { ...closed, example: { phone: '+55 81 99123-4567' } },
)

/** Leads that may be the same person. */
export function duplicatesTeamRoutes(app: App, deps: LeadDeps, guard: TeamGuard): void {
  app.route({
    method: 'GET',
    url: `${leadsPath}/:identifier/duplicates`,
    onRequest: guard.member('member'),
    schema: {
      ...teamRoute('Team leads'),
      operationId: 'listLeadDuplicates',
      summary: 'List the duplicates of a lead',
      description: 'Other leads with its phone, in any of its common variants, or with its e-mail, whatever the case.',
      params: ofLead,
      querystring: NoQuery,
      response: { 200: Duplicates, ...errors(400, 401, 403, 404) },
    },
    handler: async (request) => {
      const found = await findDuplicates(deps, leadUserOf(memberOf(request)), request.params.identifier)
      return { duplicates: found.map(present) }
    },
  })

  app.route({
    method: 'POST',
    url: `${leadsPath}/check`,
    onRequest: guard.member('member'),
    schema: {
      ...teamRoute('Team leads'),
      operationId: 'findLeadDuplicates',
      summary: 'Look for duplicates of a lead to be',
      description: 'Writes nothing. A POST, so that phones and e-mails stand in no address.',
      params: ofWorkspace,
      querystring: NoQuery,
      body: Check,
      response: { 200: Duplicates, ...errors(400, 401, 403, 404, 413, 415) },
    },
    handler: async (request) => {
      const { phone = null, email = null } = request.body
      const found = await checkDuplicates(deps, leadUserOf(memberOf(request)), { phone, email })
      return { duplicates: found.map(present) }
    },
  })
}

const present = ({ lead, same }: Duplicate) => ({ lead: presentDetail(lead), same })
