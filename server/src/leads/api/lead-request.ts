import { Type } from 'typebox'
import { pickLeadSettings } from '../../base/lead-settings.ts'
import { nullable, oneOf } from '../../base/route.ts'
import { uuid } from '../../base/schema-types.ts'
import type { Member } from '../../team/member.ts'
import { workspaceParams } from '../../team/team-schema.ts'
import type { LeadUser } from '../lead/lead.ts'
import { Identifier, NoQuery } from '../lead/schema.ts'

export const leadsPath = '/api/team/v1/workspaces/:workspaceId/leads'
export const leadPathParams = Type.Object({ ...workspaceParams, ...Identifier.properties })
/** Parameters of a route of one lead. */
export const ofLead = { params: leadPathParams, query: NoQuery }

/** The author of a change of a lead. */
export const actorSchema = Type.Object({
  type: oneOf(['agent', 'user', 'token', 'form', 'system'], {
    description: 'An API key, a member, a team token, a lead form, or the service itself.',
  }),
  id: nullable(uuid('Null for `system`.')),
})

/** Returns the lead caller for a member, who sees leads unmasked. */
export function leadUserOfMember({ workspace, workspaceId, actor }: Member): LeadUser {
  return { ...pickLeadSettings(workspace), workspaceId, masked: false, actor }
}
