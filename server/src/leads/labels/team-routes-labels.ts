import { Type } from 'typebox'
import { type App, errors } from '../../base/route.ts'
import { memberOf, type TeamGuard } from '../../team/member.ts'
import { closed, teamRoute } from '../../team/team-schema.ts'
import { leadsPath, leadUserOf, ofLead } from '../api/team-request.ts'
import type { LeadDeps } from '../lead/lead.ts'
import { labelIds, NoQuery } from '../lead/schema.ts'
import { setLabels } from './set-labels.ts'

const LeadLabels = Type.Object({ labelIds: labelIds('Its labels, which are all of these and no others.') }, closed)

/** The labels of a lead: those of the workspace, as conversations have them. */
export function labelsTeamRoute(app: App, deps: LeadDeps, guard: TeamGuard): void {
  app.route({
    method: 'PUT',
    url: `${leadsPath}/:identifier/labels`,
    onRequest: guard.member('member'),
    schema: {
      ...teamRoute('Team leads'),
      operationId: 'setLeadLabels',
      summary: 'Set the labels of a lead',
      description:
        "At most 20 of the workspace's labels. They are seen by the team alone: no event tells of them, and `updatedAt` stays. The history keeps who changed them.",
      params: ofLead,
      querystring: NoQuery,
      body: LeadLabels,
      response: { 200: LeadLabels, ...errors(400, 401, 403, 404, 413, 415) },
    },
    handler: async (request) => {
      const wanted = request.body.labelIds.map((id) => id.toLowerCase())
      const user = leadUserOf(memberOf(request))
      return { labelIds: await setLabels(deps, user, request.params.identifier, wanted) }
    },
  })
}
